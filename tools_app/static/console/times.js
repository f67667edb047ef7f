// Keeps relative times true, and tells the server the browser's zone for "local" times.

import { word } from "./words.js";

const TICK_MS = 10_000;

export function keepTimes() {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  document.cookie = `zone=${timeZone}; path=/; max-age=31536000; samesite=lax`;
  setInterval(tick, TICK_MS);
}

// The ages of data that is no longer live stop counting: they would claim to know.
function tick() {
  if (document.documentElement.dataset.staleSince) return;
  for (const place of document.querySelectorAll('time[data-ago]')) {
    place.textContent = relative(new Date(place.dateTime) - Date.now());
  }
}

export function relative(distanceMs) {
  const seconds = Math.abs(distanceMs) / 1000;
  if (seconds < 5) return word("just_now");
  return word(distanceMs > 0 ? "in" : "ago", { span: span(seconds) });
}

export function span(seconds) {
  if (seconds < 60) return word("unit_s", { n: Math.floor(seconds) });
  if (seconds < 3600) return word("unit_min", { n: Math.floor(seconds / 60) });
  if (seconds < 48 * 3600) return word("unit_h", { n: Math.floor(seconds / 3600) });
  return word("unit_days", { n: Math.floor(seconds / 86400) });
}
