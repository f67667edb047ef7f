// After htmx replaced a part: say what changed, keep the focus, report failures in words.

import { announce, warn } from "./status.js";
import { word } from "./words.js";

export function careForSwaps() {
  let wasFocused = false;
  document.addEventListener("htmx:beforeSwap", () => {
    wasFocused = document.activeElement !== document.body;
  });
  document.addEventListener("htmx:afterSettle", ({ target }) => {
    const sentence = target.querySelector("[data-announce]")?.dataset.announce;
    if (sentence) announce(sentence);
    if (wasFocused && document.activeElement === document.body) focusIn(target);
  });
  document.addEventListener("htmx:responseError", ({ detail }) => {
    if (!detail.shouldSwap) warn(word("failed", { status: detail.xhr.status }));
  });
  document.addEventListener("htmx:sendError", () => warn(word("unreachable")));
}

// The control that had the focus is gone: its region's heading is the nearest true place.
function focusIn(region) {
  const place =
    (region.matches("[tabindex]") ? region : null) ??
    region.querySelector("[autofocus]") ??
    region.querySelector("h1, h2, h3") ??
    document.getElementById("page-title");
  if (!place.hasAttribute("tabindex")) place.tabIndex = -1;
  place.focus({ preventScroll: true });
}
