// Copy buttons: data-copy="text", data-copy-from="#id" (a field or a text), data-copy-url="/…".

import { announce, warn } from "./status.js";
import { word } from "./words.js";

export function offerCopying() {
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy], [data-copy-from], [data-copy-url]");
    if (!button) return;
    try {
      await write(await wanted(button));
      announce(word("copied"));
    } catch {
      warn(word("copy_failed"));
    }
  });
}

async function wanted({ dataset }) {
  if (dataset.copyUrl) {
    const answer = await fetch(dataset.copyUrl, { credentials: "same-origin" });
    if (!answer.ok) throw new Error(String(answer.status));
    return answer.text();
  }
  if (!dataset.copyFrom) return dataset.copy;
  const source = document.querySelector(dataset.copyFrom);
  return source.value ?? source.textContent;
}

async function write(text) {
  if (navigator.clipboard) {
    await navigator.clipboard.writeText(text);
    return;
  }
  // Plain http on a name other than localhost has no clipboard object.
  const field = Object.assign(document.createElement("textarea"), { value: text });
  const focused = document.activeElement;
  (document.querySelector("dialog[open]") ?? document.body).append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  focused?.focus();
  if (!done) throw new Error("refused");
}
