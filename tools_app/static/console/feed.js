// The event log as a stream: WebSocket, else server-sent events, else polling.
//
// Dispatches on itself
//   "state"   detail {state: live | connecting | reconnecting | polling | offline, seconds}
//   "events"  detail {events: […]}   in order, each event once
//   "stale"   detail {since}         two heartbeats are missing; nothing was heard since then
//   "fresh"                          the stream is whole again
// `query` is a list of [name, value] filters: type (repeatable), agent, tool, run.
// Every event carries `seq`; what was seen already is dropped, so a resumed stream never repeats.
// When the server says it dropped events because we read too slowly, the stream is opened anew
// after the last event seen: the log has them all.

const BACK_OFF_S = [0.5, 1, 2, 4, 8, 15];
const POLL_MS = 2000;
const POLL_PAGE = 500;
const POLLS_BEFORE_STREAMS = 10;
const SOCKET_TRIES = 2;
const SIGNED_OUT = 4001;
const RIGHTS_CHANGED = 4003;
const ADDRESSES = {
  socket: "/ws/events/",
  sent: "/api/v1/events/stream",
  poll: "/api/v1/events",
};

export class EventFeed extends EventTarget {
  constructor({ since, query = [] }) {
    super();
    Object.assign(this, { seq: since, query, heardAt: new Date() });
    this.heartbeatMs = 3000;
    this.failures = 0;
    Object.assign(this, { isStale: false, isStopped: false, isPolling: false, isOffline: false });
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
    this.stream?.close();
  }

  #resume() {
    this.isStopped = false;
    this.#connect();
  }

  #retryNow() {
    if (this.isStopped || this.isPolling || this.stream?.readyState === WebSocket.OPEN) return;
    clearTimeout(this.retry);
    this.#connect();
  }

  #connect() {
    clearInterval(this.countdown);
    if (this.failures < SOCKET_TRIES) this.#openSocket();
    else if (this.failures === SOCKET_TRIES) this.#openSentEvents();
    else this.#poll();
  }

  #address(name, parameters = this.query) {
    const url = new URL(ADDRESSES[name], location.href);
    url.search = new URLSearchParams([...parameters, ["since", this.seq]]);
    return url;
  }

  #openSocket() {
    const url = this.#address("socket");
    url.protocol = url.protocol.replace("http", "ws");
    const socket = new WebSocket(url);
    this.stream = socket;
    this.#watch(socket);
    socket.onmessage = (message) => this.#receive(socket, JSON.parse(message.data));
    socket.onclose = (event) => this.#lost(socket, event.code);
  }

  #openSentEvents() {
    const source = new EventSource(this.#address("sent"));
    this.stream = source;
    this.#watch(source);
    const receive = (type, text) => this.#receive(source, { type, ...JSON.parse(text) });
    source.onmessage = ({ data }) => {
      this.#receive(source, { type: "events", events: [JSON.parse(data)] });
    };
    for (const type of ["hello", "heartbeat", "resync", "closing"]) {
      source.addEventListener(type, ({ data }) => receive(type, data));
    }
    source.onerror = () => this.#lost(source, 0);
  }

  // A network that swallows packets closes nothing: silence itself is the sign.
  #watch(stream) {
    clearTimeout(this.watchdog);
    this.watchdog = setTimeout(() => {
      this.#stale();
      this.#lost(stream, 0);
    }, this.heartbeatMs * 2 + 500);
  }

  #receive(stream, frame) {
    if (stream !== this.stream) return;
    this.heardAt = new Date();
    this.#watch(stream);
    if (frame.type === "hello") {
      this.heartbeatMs = (frame.heartbeat_s ?? 3) * 1000;
      this.#tell("live");
    } else if (frame.type === "events") {
      this.failures = 0;
      this.#deliver(frame.events);
    } else if (frame.type === "heartbeat") {
      this.failures = 0;
      this.seq = Math.max(this.seq, frame.seq); // all that passed the filters up to here was sent
      this.#fresh();
    } else if (frame.type === "resync") {
      this.#lost(stream, 0);
    } else if (frame.type === "closing") {
      this.#lost(stream, frame.code);
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

  #lost(stream, code) {
    if (stream !== this.stream || this.isStopped) return;
    this.stream = null;
    stream.close();
    clearTimeout(this.watchdog);
    if (code === SIGNED_OUT || code === RIGHTS_CHANGED) {
      this.stop();
      location.reload();
      return;
    }
    this.failures += 1;
    this.#waitThenConnect("reconnecting");
  }

  #waitThenConnect(state) {
    const base = BACK_OFF_S[Math.min(this.failures, BACK_OFF_S.length) - 1] ?? BACK_OFF_S[0];
    const until = Date.now() + base * 1000 * (0.8 + Math.random() * 0.4);
    const tick = () => this.#tell(state, Math.max(0, Math.ceil((until - Date.now()) / 1000)));
    tick();
    this.countdown = setInterval(tick, 1000);
    this.retry = setTimeout(() => this.#connect(), until - Date.now());
  }

  // Asks the same log over plain HTTP; from time to time the streams get another chance, and at
  // once when the server is back.
  async #poll() {
    this.isPolling = true;
    const isReached = await this.#pollForAWhile(this.isOffline ? 1 : POLLS_BEFORE_STREAMS);
    this.isPolling = false;
    if (this.isStopped) return;
    this.isOffline = !isReached;
    if (isReached) {
      this.failures = 0;
      this.#connect();
    } else {
      this.failures += 1;
      this.#stale();
      this.#waitThenConnect("offline");
    }
  }

  async #pollForAWhile(rounds) {
    for (let round = 0; round < rounds; round += 1) {
      if (round > 0) await new Promise((done) => setTimeout(done, POLL_MS));
      let events;
      do {
        try {
          events = await this.#page();
        } catch {
          return false;
        }
        if (this.isStopped) return true;
        this.heardAt = new Date();
        this.#tell("polling");
        this.#deliver(events);
      } while (events.length === POLL_PAGE);
    }
    return true;
  }

  async #page() {
    // Where a stream takes a filter several times, the list of events takes it with commas.
    const types = this.query.filter(([name]) => name === "type").map(([, value]) => value);
    const others = this.query.filter(([name]) => name !== "type");
    const query = [...others, ["limit", POLL_PAGE]];
    if (types.length) query.push(["type", types.join(",")]);
    const answer = await fetch(this.#address("poll", query), { credentials: "same-origin" });
    if (answer.status === 401 || answer.status === 403) location.reload();
    if (!answer.ok) throw new Error(String(answer.status));
    return (await answer.json()).items;
  }

  #stale() {
    if (this.isStale) return;
    this.isStale = true;
    this.#emit("stale", { since: this.heardAt });
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
