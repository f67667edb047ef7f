// The feed pattern (WAI-ARIA Authoring Practices): Page Down and Page Up between cards, Ctrl+End
// and Ctrl+Home out of the feed; j and k do the same as Page Down and Page Up.

import { isTyping, onKey } from "./keys.js";

export function offerFeedKeys(feed, after) {
  const cards = () => [...feed.querySelectorAll(".approval")];

  function go(step) {
    const all = cards();
    const at = all.indexOf(document.activeElement.closest(".approval"));
    const next = at < 0 ? all[0] : all[at + step];
    next?.focus();
    return Boolean(next);
  }

  feed.addEventListener("keydown", (event) => {
    if (isTyping(event.target) || event.target.closest(".call-text")) return;
    const acts = {
      PageDown: () => go(1),
      PageUp: () => go(-1),
      End: () => event.ctrlKey && leave(after),
      Home: () => event.ctrlKey && leave(document.getElementById("page-title")),
    };
    if (acts[event.key]?.()) event.preventDefault();
  });
  onKey("j", () => go(1));
  onKey("k", () => go(-1));

  const number = () => {
    const all = cards();
    all.forEach((card, index) => {
      card.setAttribute("aria-posinset", index + 1);
      card.setAttribute("aria-setsize", all.length);
    });
  };
  new MutationObserver(number).observe(feed, { childList: true });
  number();
}

function leave(place) {
  place.focus();
  return true;
}
