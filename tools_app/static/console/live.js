// The live page: the stream, the rows, and whether the reader follows or reads.

import { EventFeed } from "./feed.js";
import { onKey } from "./keys.js";
import { keepFollowing } from "./live_follow.js";
import { offerPanel } from "./live_panel.js";
import { LiveRows } from "./live_rows.js";
import { LiveTraffic } from "./live_traffic.js";
import { announce } from "./status.js";
import { word } from "./words.js";

const PAINT_MS = 100;
const ANNOUNCE_MS = 10_000;

const place = document.getElementById("live");
const { cursor, agent, tool } = place.dataset;
const part = (name) => document.getElementById(`live-${name}`);

const rows = new LiveRows(part("rows"), place.dataset);
const traffic = new LiveTraffic(rows);
const following = keepFollowing(part("scroll"), () => {
  traffic.isFollowing = following.isOn;
  if (following.isOn) traffic.catchUp();
  showState();
});
const panel = offerPanel(part("panel"), part("rows"), () => following.pause("panel"));

let painting;

function paintSoon() {
  painting ??= setTimeout(() => {
    painting = undefined;
    if (traffic.paint()) paintSoon();
    showState();
  }, PAINT_MS);
}

function showState() {
  part("bar").dataset.state = following.isOn ? "following" : "paused";
  part("state").textContent = following.isOn
    ? word("following")
    : word("paused", { why: word(`why_${following.why}`), n: traffic.waitingCount });
  part("pause").hidden = !following.isOn;
  part("follow").hidden = following.isOn;
  const { shown, all, perSecond } = traffic.lately();
  part("rate").textContent = word("rate", { n: perSecond });
  part("skipped").textContent = shown < all ? word("skipped", { shown, all }) : "";
  Object.assign(place.dataset, { shown: traffic.shownCount, skipped: traffic.skippedCount });
}

function showAsOf(since) {
  part("scroll").classList.toggle("is-stale", Boolean(since));
  part("as-of").hidden = !since;
  part("as-of").textContent = since ? word("as_of", { time: rows.clock(since) }) : "";
}

const filters = [["agent", agent], ["tool", tool]].filter(([, value]) => value);
const feed = new EventFeed({
  since: Number(cursor),
  query: [["type", "run.*"], ["type", "approval.*"], ...filters],
});
feed.addEventListener("events", ({ detail }) => {
  detail.events.forEach((event) => traffic.take(event));
  paintSoon();
});
feed.addEventListener("stale", ({ detail }) => showAsOf(detail.since));
feed.addEventListener("fresh", () => showAsOf(null));

part("pause").addEventListener("click", () => following.pause("key"));
part("follow").addEventListener("click", () => following.resume());
onKey("f", () => following.resume());
onKey("p", () => (following.isOn ? following.pause("key") : following.resume()));
onKey("Escape", () => panel.close());
document.addEventListener("selectionchange", () => rows.hasHeldBack() && paintSoon());
setInterval(showState, 1000); // the rate falls also when nothing comes
setInterval(() => {
  const { count, denied } = traffic.sinceLastTold();
  if (count && following.isOn) announce(word("summary", { n: count, denied }));
}, ANNOUNCE_MS);

part("bar").hidden = false;
showState();
feed.start();
