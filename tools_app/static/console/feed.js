// The event log as a stream: WebSocket first, polling when sockets do not get through.
//
// Dispatches on itself
//   "state"   detail {state: live | connecting | reconnecting | polling | offline, seconds}
//   "events"  detail {events: […]}   in order, each event once
//   "resync"  detail {after}         the server dropped events after this one for being slow to read
//   "stale" and "fresh"              two heartbeats are missing, or the stream is whole again
// `query` is a list of [name, value] filters: type (repeatable), agent, tool, run.
// Every event carries `seq`; what was seen already is dropped, so a resumed stream never repeats.

const BACK_OFF_S = [0.5, 1, 2, 4, 8, 15];
const POLL_MS = 2000;
const POLL_PAGE = 500;
const TRIES_BEFORE_POLLING = 2;
const SIGNED_OUT = 4001;
const RIGHTS_CHANGED = 4003;

export class EventFeed extends EventTarget {
  constructor({ since, query = [], socketPath = "/ws/events/", pollPath = "/api/v1/events" }) {
    super();
    Object.assign(this, { seq: since, query, socketPath, pollPath });
    this.heartbeatMs = 3000;
    this.failures = 0;
    this.isStale = false;
    this.isStopped = false;
  }

  start() {
    addEventListener("online", () => this.#retryNow());
    addEventListener("pagehide", () => this.stop());
    addEventListener("pageshow", (event) => event.persisted && this.#resume());
    this.#tell("connecting");
    this.#connect();
    return this;
  }

  stop() {
    this.isStopped = true;
    clearTimeout(this.watchdog);
    clearTimeout(this.retry);
    clearInterval(this.countdown);
    this.socket?.close();
  }

  #resume() {
    this.isStopped = false;
    this.#connect();
  }

  #retryNow() {
    if (this.isStopped || this.socket?.readyState === WebSocket.OPEN) return;
    clearTimeout(this.retry);
    this.#connect();
  }

  #connect() {
    clearInterval(this.countdown);
    const url = new URL(this.socketPath, location.href);
    url.protocol = url.protocol.replace("http", "ws");
    url.search = new URLSearchParams([...this.query, ["since", this.seq]]);
    const socket = new WebSocket(url);
    this.socket = socket;
    this.#watch(socket);
    socket.onmessage = (message) => this.#receive(socket, JSON.parse(message.data));
    socket.onclose = (event) => this.#lost(socket, event.code);
  }

  // A network that swallows packets closes nothing: silence itself is the sign.
  #watch(socket) {
    clearTimeout(this.watchdog);
    this.watchdog = setTimeout(() => {
      this.#stale();
      socket.close();
      this.#lost(socket, 0);
    }, this.heartbeatMs * 2 + 500);
  }

  #receive(socket, frame) {
    if (socket !== this.socket) return;
    this.#watch(socket);
    if (frame.type === "hello") {
      this.heartbeatMs = (frame.heartbeat_s ?? 3) * 1000;
      this.failures = 0;
      this.#tell("live");
    } else if (frame.type === "events") {
      this.#deliver(frame.events);
    } else if (frame.type === "heartbeat") {
      this.seq = Math.max(this.seq, frame.seq); // all that passed the filters up to here was sent
      this.#fresh();
    } else if (frame.type === "resync") {
      this.#emit("resync", { after: frame.after });
      socket.close();
    }
  }

  #deliver(events) {
    const unseen = events.filter((event) => event.seq > this.seq);
    if (unseen.length) {
      this.seq = unseen.at(-1).seq;
      this.#emit("events", { events: unseen });
    }
    this.#fresh();
  }

  #lost(socket, code) {
    if (socket !== this.socket || this.isStopped) return;
    this.socket = null;
    clearTimeout(this.watchdog);
    if (code === SIGNED_OUT || code === RIGHTS_CHANGED) {
      this.stop();
      location.reload();
      return;
    }
    this.failures += 1;
    if (this.failures > TRIES_BEFORE_POLLING) this.#poll();
    else this.#waitThenConnect("reconnecting");
  }

  #waitThenConnect(state) {
    const base = BACK_OFF_S[Math.min(this.failures, BACK_OFF_S.length) - 1] ?? 0.5;
    const until = Date.now() + base * 1000 * (0.8 + Math.random() * 0.4);
    const tick = () => this.#tell(state, Math.max(0, Math.ceil((until - Date.now()) / 1000)));
    tick();
    this.countdown = setInterval(tick, 1000);
    this.retry = setTimeout(() => this.#connect(), until - Date.now());
  }

  // Asks the same log over plain HTTP; every tenth answer gives the socket another chance.
  async #poll() {
    let rounds = 0;
    while (!this.isStopped) {
      try {
        const events = await this.#page();
        this.#tell("polling");
        this.#deliver(events);
        rounds = events.length === POLL_PAGE ? rounds : rounds + 1;
        if (events.length === POLL_PAGE) continue;
      } catch {
        this.#stale();
        this.#waitThenConnect("offline");
        return;
      }
      if (rounds === 10) {
        this.failures = TRIES_BEFORE_POLLING;
        this.#connect();
        return;
      }
      await new Promise((done) => setTimeout(done, POLL_MS));
    }
  }

  async #page() {
    const place = [["since", this.seq], ["limit", POLL_PAGE]];
    const search = new URLSearchParams([...this.query, ...place]);
    const answer = await fetch(`${this.pollPath}?${search}`, { credentials: "same-origin" });
    if (answer.status === 401 || answer.status === 403) location.reload();
    if (!answer.ok) throw new Error(String(answer.status));
    const body = await answer.json();
    return body.events ?? body.items ?? body.results ?? [];
  }

  #stale() {
    if (this.isStale) return;
    this.isStale = true;
    this.#emit("stale", {});
  }

  #fresh() {
    if (!this.isStale) return;
    this.isStale = false;
    this.#emit("fresh", {});
  }

  #tell(state, seconds = 0) {
    this.#emit("state", { state, seconds });
  }

  #emit(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}
