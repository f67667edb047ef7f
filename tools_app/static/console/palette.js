// The palette: a combobox whose options the server finds; focus stays in its field.

import { openDialog } from "./dialogs.js";
import { announce } from "./status.js";
import { word } from "./words.js";

export function offerPalette() {
  const dialog = document.getElementById("palette");
  if (!dialog) return;
  const input = document.getElementById("palette-input");
  const list = document.getElementById("palette-list");

  document.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey) return;
    event.preventDefault();
    openDialog("palette");
  });
  dialog.addEventListener("dialog-open", () => {
    input.value = "";
    input.focus();
    htmx.trigger(input, "palette-open");
  });
  input.addEventListener("keydown", (event) => move(event, input, list));
  list.addEventListener("click", (event) => go(event.target.closest("[role=option]")));
  list.addEventListener("htmx:afterSwap", () => {
    point(input, list, options(list)[0]);
    announce(word("results", { n: options(list).length }));
  });
}

const options = (list) => [...list.querySelectorAll("[role=option]:not([aria-disabled=true])")];

function move(event, input, list) {
  if (event.isComposing) return;
  const all = options(list);
  const at = all.findIndex((option) => option.getAttribute("aria-selected") === "true");
  const steps = { ArrowDown: 1, ArrowUp: -1 };
  if (event.key in steps && all.length) {
    event.preventDefault();
    point(input, list, all[(at + steps[event.key] + all.length) % all.length]);
  } else if (event.key === "Enter") {
    event.preventDefault();
    go(all[at]);
  }
}

function point(input, list, chosen) {
  for (const option of list.querySelectorAll("[role=option]")) {
    option.setAttribute("aria-selected", String(option === chosen));
  }
  if (chosen) input.setAttribute("aria-activedescendant", chosen.id);
  else input.removeAttribute("aria-activedescendant");
  chosen?.scrollIntoView({ block: "nearest" });
}

function go(option) {
  if (option?.dataset.href) location.assign(option.dataset.href);
}
