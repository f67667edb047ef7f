// The connection words in the header, and the parts of the frame that events change.

import { EventFeed } from "./feed.js";
import { announce, warn } from "./status.js";
import { word } from "./words.js";

const FRAME_KINDS = [
  "freeze.created",
  "freeze.lifted",
  "freeze.expired",
  "freeze.extended",
  "approval.requested",
  "approval.decided",
  "approval.extended",
  "approval.expired",
  "approval.superseded",
  "approval.cancelled",
];
const REST_MS = 500;

export function followLog() {
  const place = document.getElementById("connection");
  if (!place) return null;
  const query = FRAME_KINDS.map((kind) => ["type", kind]);
  const feed = new EventFeed({ since: Number(place.dataset.cursor), query });
  feed.addEventListener("state", ({ detail }) => showState(place, detail));
  feed.addEventListener("events", ({ detail }) => detail.events.forEach(noticed));
  feed.addEventListener("stale", () => markStale(true));
  feed.addEventListener("fresh", () => markStale(false));
  return feed.start();
}

function showState(place, { state, seconds }) {
  const before = place.dataset.state;
  place.dataset.state = state;
  place.textContent = word(state, { n: seconds });
  if (before === state) return;
  if (before === "live") announce(word("connection_lost"));
  if (state === "live" && before !== "connecting") announce(word("connection_back"));
}

// Pages whose data lives from the stream read this mark: hatched edge, frozen ages.
function markStale(isStale) {
  const root = document.documentElement;
  if (isStale) root.dataset.staleSince = new Date().toISOString();
  else delete root.dataset.staleSince;
  root.classList.toggle("stream-is-stale", isStale);
}

let resting = null; // a refresh happened just now; more events wait until this is over
let isDue = false;

// The first event shows at once; a burst of them costs a few requests, not one each.
function refreshFrame() {
  isDue = resting !== null;
  if (isDue) return;
  htmx.ajax("GET", "/frame/", { swap: "none" });
  resting = setTimeout(() => {
    resting = null;
    if (isDue) refreshFrame();
  }, REST_MS);
}

function noticed(event) {
  if (event.kind === "freeze.created") warn(word("frozen"));
  if (event.kind === "freeze.lifted" || event.kind === "freeze.expired") warn(word("unfrozen"));
  if (event.kind === "approval.requested") announce(word("approval_new"));
  refreshFrame();
}
