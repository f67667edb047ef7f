// How long each card can still be answered. The clock stays outside of live regions; half a minute
// before the end it is said once, with the way out.

import { announce } from "./status.js";
import { word } from "./words.js";

const SOON_S = 30;

export function keepCountdowns(queue, ended) {
  const told = new Set();

  function show(place) {
    const card = place.closest(".approval");
    const seconds = Math.ceil((new Date(place.dataset.until) - Date.now()) / 1000);
    if (seconds <= 0) {
      place.textContent = word("over");
      delete place.dataset.until;
      ended(card);
      return;
    }
    const pad = (n) => String(n).padStart(2, "0");
    place.textContent = word("in", { span: `${pad(Math.floor(seconds / 60))}:${pad(seconds % 60)}` });
    if (seconds > SOON_S || told.has(card.id)) return;
    told.add(card.id);
    announce(word("expires_soon", { tool: card.dataset.tool }));
  }

  const tick = () => queue.querySelectorAll("[data-until]").forEach(show);
  setInterval(tick, 1000);
  tick();
}
