// "Try it": a form drawn from the JSON Schema beside the JSON text, one and the same value.
//
// The text is the truth. Every field edits the raw text of its own member and leaves the others as
// they were typed, so that 1.0, 12345678901234567890, null, "", 0 and "not sent" all survive.

import { members, withMember } from "./json_members.js";
import { curlCommand, pythonProgram, requestBody } from "./snippets.js";

const form = document.getElementById("try-form");
const text = document.getElementById("try-arguments");
const place = document.getElementById("try-fields");
const problem = document.getElementById("try-arguments-error");
const schema = JSON.parse(document.getElementById("try-schema").textContent) ?? {};
const [NOT_SENT, SEND, REQUIRED, NOT_JSON, NULL] = place.dataset.words.split("|");

function start() {
  const properties = Object.entries(schema.properties ?? {});
  for (const [name, rule] of properties) place.append(field(name, rule ?? {}));
  place.hidden = properties.length === 0;
  text.addEventListener("input", () => show(true));
  form.addEventListener("input", () => tell());
  form.addEventListener("change", () => tell());
  form.addEventListener("htmx:confirm", stopIfBroken);
  show(true);
}

// A submit with broken JSON stays here, at the field that is broken.
function stopIfBroken(event) {
  if (parsed() !== null && !place.querySelector("[aria-invalid=true]")) return;
  event.preventDefault();
  (place.querySelector("[aria-invalid=true]") ?? text).focus();
}

function parsed() {
  try {
    return members(text.value.trim() || "{}");
  } catch {
    return null;
  }
}

function show(isTyped) {
  const found = parsed();
  text.toggleAttribute("aria-invalid", false);
  if (found === null) text.setAttribute("aria-invalid", "true");
  problem.hidden = found !== null;
  problem.querySelector("span").textContent = NOT_JSON;
  if (found && isTyped) for (const row of place.children) row.read(found);
  tell();
}

function tell() {
  const choices = Object.fromEntries(
    ["agent", "provider", "model"].map((name) => [name, form.elements[name].value.trim()]),
  );
  const body = requestBody(text.value.trim() || "{}", choices);
  document.getElementById("try-body").textContent = body;
  document.getElementById("try-curl").textContent = curlCommand(form.dataset.url, body);
  document.getElementById("try-python").textContent = pythonProgram(form.dataset.url, body);
}

// One row: a "send" box, and an input that fits the type. `read` shows a member of the text.
function field(name, rule) {
  const row = document.createElement("div");
  const id = `try-field-${name}`;
  const isRequired = (schema.required ?? []).includes(name);
  row.className = "field";
  const label = Object.assign(document.createElement("label"), { htmlFor: id });
  label.append(name);
  const mark = document.createElement("span");
  mark.className = "optional";
  mark.textContent = ` ${[].concat(rule.type ?? []).join(", ")}${isRequired ? ` · ${REQUIRED}` : ""}`;
  label.append(mark);
  const input = inputFor(rule);
  input.id = id;
  const send = Object.assign(document.createElement("input"), { type: "checkbox" });
  send.setAttribute("aria-label", `${SEND} ${name}`);
  send.title = SEND;
  const line = document.createElement("div");
  line.className = "try-line";
  line.append(send, input);
  row.append(label, line);
  if (rule.description) row.append(help(input, id, rule.description));

  row.read = (found) => {
    const raw = found.get(name);
    send.checked = raw !== undefined;
    if (raw !== undefined) input.setRaw(raw);
    input.removeAttribute("aria-invalid");
  };
  const write = () => {
    const raw = send.checked ? input.raw() : undefined;
    input.toggleAttribute("aria-invalid", false);
    if (raw === null) return input.setAttribute("aria-invalid", "true");
    const whole = text.value.trim() || "{}";
    if (parsed() === null) return undefined;
    text.value = withMember(whole, name, raw);
    return show(false);
  };
  input.addEventListener("input", () => {
    send.checked = true;
    write();
  });
  send.addEventListener("change", write);
  return row;
}

function help(input, id, sentence) {
  const line = document.createElement("p");
  Object.assign(line, { className: "field-help", id: `${id}-help`, textContent: sentence });
  input.setAttribute("aria-describedby", line.id);
  return line;
}

function inputFor(rule) {
  const types = [].concat(rule.type ?? []);
  const kinds = types.filter((type) => type !== "null");
  const isNullable = types.includes("null");
  if (Array.isArray(rule.enum)) return choice(rule.enum.map((value) => JSON.stringify(value)));
  if (kinds.length === 1 && kinds[0] === "boolean") {
    return choice(["true", "false", ...(isNullable ? ["null"] : [])]);
  }
  if (kinds.length === 1 && kinds[0] === "string" && !isNullable) return lines();
  return json();
}

function choice(raws) {
  const input = document.createElement("select");
  const offer = (raw) => {
    const label = raw === "null" ? NULL : raw.startsWith('"') ? JSON.parse(raw) : raw;
    input.add(new Option(label, raw));
  };
  raws.forEach(offer);
  input.raw = () => input.value;
  input.setRaw = (raw) => {
    if (![...input.options].some((option) => option.value === raw)) offer(raw);
    input.value = raw;
  };
  return input;
}

// A string is edited as itself; any other value that the text holds is edited as JSON.
function lines() {
  const input = document.createElement("textarea");
  input.rows = 1;
  let isString = true;
  input.raw = () => (isString ? JSON.stringify(input.value) : valid(input.value));
  input.setRaw = (raw) => {
    isString = raw.startsWith('"');
    const shown = isString ? JSON.parse(raw) : raw;
    // A text field turns CR into LF; such a value is edited as JSON, where it is written \r.
    if (isString && /\r/.test(shown)) isString = false;
    input.value = isString ? shown : raw;
    input.rows = Math.min(Math.max(input.value.split("\n").length, 1), 8);
  };
  return input;
}

function json() {
  const input = Object.assign(document.createElement("textarea"), { rows: 1, className: "mono" });
  input.spellcheck = false;
  input.placeholder = NOT_SENT;
  input.raw = () => valid(input.value);
  input.setRaw = (raw) => {
    input.value = raw;
    input.rows = Math.min(raw.split("\n").length, 8);
  };
  return input;
}

function valid(raw) {
  try {
    JSON.parse(raw);
    return raw.trim();
  } catch {
    return null;
  }
}

if (form) start();
