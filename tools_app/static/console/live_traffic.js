// From events to rows: what waits to be drawn, what is drawn, what is too much to draw.

const PER_PAINT = 50; // with ten paints a second more than anybody reads
const MAX_WAITING = 500; // while following: older ones would leave the table at once
const MAX_BUFFERED = 5000; // while paused
const MAX_KNOWN = 20_000;
const WINDOW_MS = 10_000;
const OPEN = new Set(["waiting_approval", "queued", "running"]);

export class LiveTraffic {
  constructor(rows) {
    Object.assign(this, { rows, isFollowing: true, shownCount: 0, skippedCount: 0 });
    this.waiting = new Map(); // run → {run, at, data}, the oldest first
    this.changes = new Map(); // run → data of rows that are shown
    this.known = new Set(); // runs that were shown or skipped and are not in the table
    this.recent = []; // [time, shown, skipped]
    this.told = { count: 0, denied: 0 };
  }

  get waitingCount() {
    return this.waiting.size;
  }

  // Takes one event about a run. Its data holds all that a row shows.
  take({ run, at, data }) {
    if (!run || !data.status) return;
    const { status } = this.changes.get(run) ?? this.waiting.get(run)?.data ?? this.rows.of(run);
    if (status && !OPEN.has(status) && OPEN.has(data.status)) return; // over is over
    if (this.rows.has(run)) this.changes.set(run, data);
    else if (this.waiting.has(run)) this.waiting.get(run).data = data;
    else if (!this.known.has(run) && this.rows.matches(data)) this.#wait({ run, at, data });
  }

  #wait(found) {
    this.waiting.set(found.run, found);
    this.told.count += 1;
    if (found.data.effect === "deny") this.told.denied += 1;
    if (this.waiting.size > (this.isFollowing ? MAX_WAITING : MAX_BUFFERED)) this.#skipOldest();
  }

  #skipOldest() {
    const [run] = this.waiting.keys();
    this.waiting.delete(run);
    this.#know(run);
    this.skippedCount += 1;
    this.recent.push([Date.now(), 0, 1]);
  }

  // Draws what is due. Returns whether there is more for the next paint.
  paint(limit = PER_PAINT) {
    this.rows.update(this.changes);
    this.changes.clear();
    if (!this.isFollowing || !this.waiting.size) return false;
    const found = [...this.waiting.values()].slice(0, limit);
    for (const { run } of found) this.waiting.delete(run);
    this.rows.insert(found).forEach((run) => this.#know(run));
    this.shownCount += found.length;
    this.recent.push([Date.now(), found.length, 0]);
    return this.waiting.size > 0;
  }

  // After a pause: everything that still fits, at once.
  catchUp() {
    while (this.waiting.size > MAX_WAITING) this.#skipOldest();
    this.paint(MAX_WAITING);
  }

  // How many runs of the last ten seconds are shown, of how many that came.
  lately() {
    const begin = Date.now() - WINDOW_MS;
    this.recent = this.recent.filter(([at]) => at >= begin);
    const shown = this.recent.reduce((sum, [, n]) => sum + n, 0);
    const all = this.recent.reduce((sum, [, n, skipped]) => sum + n + skipped, 0);
    return { shown, all, perSecond: Math.round((all * 10_000) / WINDOW_MS) / 10 };
  }

  sinceLastTold() {
    const { told } = this;
    this.told = { count: 0, denied: 0 };
    return told;
  }

  #know(run) {
    this.known.add(run);
    if (this.known.size > MAX_KNOWN) this.known.delete(this.known.keys().next().value);
  }
}
