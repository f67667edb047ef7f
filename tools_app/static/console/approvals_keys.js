// The keys a and d answer the card that has the focus, and only one that stood still for a moment.
//
// A card is armed half a second after it appeared, changed, moved or got the focus. A key that
// comes earlier is swallowed and starts the time anew, so that fast typing never answers.

import { onKey } from "./keys.js";

const ARMED_AFTER_MS = 500;

export function keepArmed(queue) {
  const stillSince = new WeakMap(); // card → when it last appeared, moved or swallowed a key
  const places = new WeakMap(); // card → where it was

  const cards = () => queue.querySelectorAll(".approval");

  function disarm(card) {
    stillSince.set(card, performance.now());
    delete card.dataset.armed;
    setTimeout(() => {
      if (isArmed(card) && card.isConnected) card.dataset.armed = "";
    }, ARMED_AFTER_MS + 10);
  }

  function isArmed(card) {
    return performance.now() - (stillSince.get(card) ?? Infinity) >= ARMED_AFTER_MS;
  }

  function noticeMoves() {
    for (const card of cards()) {
      if (places.get(card) === card.offsetTop) continue;
      places.set(card, card.offsetTop);
      disarm(card);
    }
  }

  // Also a card that was replaced by a newer state of itself is a new element, hence not armed.
  new MutationObserver(noticeMoves).observe(queue, { childList: true });
  new ResizeObserver(noticeMoves).observe(queue);
  queue.addEventListener("focusin", ({ target }) => target.matches(".approval") && disarm(target));
  noticeMoves();

  for (const key of ["a", "d"]) {
    onKey(key, ({ target }) => {
      const card = target.closest(".approval");
      if (card !== target) return; // the focus is nowhere, or inside the card
      noticeMoves();
      if (isArmed(card)) card.querySelector(`[data-key="${key}"]`)?.click();
      disarm(card);
    });
  }
  onKey("o", ({ target }) => target.closest(".approval")?.querySelector("[data-key=o]").click());
}
