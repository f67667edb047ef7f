// The rows of the live table. A row is one run; it is drawn once and then changed in place.

import { showText } from "./visible.js";
import { word } from "./words.js";

const MAX_ROWS = 500;

export class LiveRows {
  // `wanted` holds the filters that the stream does not apply: {effect, status, zone}.
  constructor(body, wanted) {
    Object.assign(this, { body, wanted, byRun: new Map(), heldBack: new Map() });
    this.blank = document.getElementById("live-row").content.querySelector("tr");
    this.chips = { effect: chips("live-effects"), status: chips("live-statuses") };
    const zone = { timeZone: wanted.zone, hourCycle: "h23" };
    const time = { hour: "2-digit", minute: "2-digit", second: "2-digit" };
    this.times = new Intl.DateTimeFormat("en-GB", { ...zone, ...time, fractionalSecondDigits: 1 });
    this.dates = new Intl.DateTimeFormat("sv-SE", { ...zone, dateStyle: "short", timeStyle: "medium" });
    for (const row of body.children) this.byRun.set(row.dataset.run, row);
    this.#number();
  }

  has(run) {
    return this.byRun.has(run);
  }

  // What the row of a run says of itself: {status, effect}; empty when there is none.
  of(run) {
    return this.byRun.get(run)?.dataset ?? {};
  }

  matches({ effect, status }) {
    const { effect: wantedEffect, status: wantedStatus } = this.wanted;
    return (!wantedEffect || wantedEffect === effect) && (!wantedStatus || wantedStatus === status);
  }

  clock(moment) {
    return this.times.format(moment);
  }

  // Puts runs on top, given oldest first: {run, at, data}. Returns the runs that had to go.
  insert(found) {
    const fragment = document.createDocumentFragment();
    for (const { run, at, data } of found) {
      const row = this.#draw(run, at, data);
      this.byRun.set(run, row);
      fragment.prepend(row);
    }
    this.body.setAttribute("aria-busy", "true");
    this.body.prepend(fragment);
    const gone = [];
    while (this.byRun.size > MAX_ROWS) {
      const { run } = this.body.lastElementChild.dataset;
      this.byRun.delete(run);
      this.body.lastElementChild.remove();
      gone.push(run);
    }
    this.#number();
    this.body.removeAttribute("aria-busy");
    return gone;
  }

  // Changes rows in place: a map of run → data. A row that is being selected waits.
  update(changes) {
    for (const [run, data] of [...this.heldBack, ...changes]) {
      const row = this.byRun.get(run);
      if (row && isSelected(row)) {
        this.heldBack.set(run, data);
        continue;
      }
      this.heldBack.delete(run);
      if (!row) continue;
      this.#fill(row, data);
      this.#markWhetherItMatches(row, data);
    }
  }

  hasHeldBack() {
    return this.heldBack.size > 0 && getSelection().isCollapsed;
  }

  #draw(run, at, data) {
    const row = this.blank.cloneNode(true);
    const moment = new Date(at);
    const link = row.querySelector("th a");
    row.dataset.run = run;
    row.className = "is-new";
    link.href = `/runs/${run}/`;
    link.title = run;
    link.textContent = `${run.slice(0, 4)}…${run.slice(-6)}`;
    const time = row.querySelector("time");
    time.dateTime = at;
    time.title = `${this.dates.format(moment)} ${this.wanted.zone}`;
    time.textContent = this.clock(moment);
    showText(cell(row, "agent"), data.agent || "–");
    showText(cell(row, "tool"), data.tool);
    showText(cell(row, "preview"), data.preview);
    this.#fill(row, data);
    return row;
  }

  #fill(row, data) {
    if (row.dataset.effect !== data.effect) this.#showEffect(cell(row, "effect"), data);
    Object.assign(row.dataset, { status: data.status, effect: data.effect });
    const chip = this.chips.status.get(data.status)?.cloneNode(true) ?? data.status;
    cell(row, "status").replaceChildren(chip);
    const saysMore = data.effect !== "deny" && data.outcome !== data.status;
    cell(row, "outcome").textContent = saysMore ? data.outcome : "";
    cell(row, "duration").textContent = milliseconds(data.duration_ms);
  }

  #showEffect(place, { effect, decision, summary }) {
    const chip = this.chips.effect.get(effect)?.cloneNode(true);
    if (!chip || !decision) return;
    chip.querySelector("a").href = `/decisions/${decision}/`;
    showText(chip.querySelector("[role=tooltip]"), summary);
    place.replaceChildren(chip);
  }

  #markWhetherItMatches(row, data) {
    const isOther = !this.matches(data);
    row.classList.toggle("is-other", isOther);
    row.title = isOther ? word("no_match") : "";
  }

  #number() {
    let index = 2; // the header is 1
    for (const row of this.body.children) row.setAttribute("aria-rowindex", (index += 1) - 1);
  }
}

function chips(id) {
  const { children } = document.getElementById(id).content;
  return new Map([...children].map((found) => [found.dataset.value, found.firstElementChild]));
}

function cell(row, name) {
  return row.querySelector(`[data-cell="${name}"]`);
}

function isSelected(row) {
  const selection = getSelection();
  return !selection.isCollapsed && selection.containsNode(row, true);
}

// The same words as the server's (tools_app/console/moments.py), without minutes: runs are short.
function milliseconds(value) {
  if (value === null || value === undefined) return "–";
  if (value < 10) return `${value.toFixed(1)} ms`;
  return value < 1000 ? `${value.toFixed(0)} ms` : `${(value / 1000).toFixed(2)} s`;
}
