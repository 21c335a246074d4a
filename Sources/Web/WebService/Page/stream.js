// Follows a room: receives its whole state, then merge patches, and reconnects after a lost
// connection.

/** Applies a merge patch (RFC 7396) to a value. Unchanged parts stay the same objects. */
export function merge(value, patch) {
  if (patch === null || typeof patch !== "object" || Array.isArray(patch)) return patch;
  const result = value && typeof value === "object" && !Array.isArray(value) ? { ...value } : {};
  for (const [name, change] of Object.entries(patch)) {
    if (change === null) delete result[name];
    else result[name] = merge(result[name], change);
  }
  return result;
}

/** Splits a stream of server-sent events into events. */
export class EventParser {
  #rest = "";

  *take(text) {
    this.#rest += text;
    let end;
    while ((end = this.#rest.indexOf("\n\n")) >= 0) {
      const event = { type: "message", data: "", id: "" };
      for (const line of this.#rest.slice(0, end).split("\n")) {
        const colon = line.indexOf(":");
        if (colon < 1) continue;
        const value = line.slice(colon + 1).replace(/^ /, "");
        if (line.startsWith("event:")) event.type = value;
        else if (line.startsWith("data:")) event.data += value;
        else if (line.startsWith("id:")) event.id = value;
      }
      this.#rest = this.#rest.slice(end + 2);
      yield event;
    }
  }
}

/**
 * The time without any event after which the connection is dead. Even without changes, two events
 * arrive in it.
 */
const silence = 25_000;

export class RoomStream {
  #abort = new AbortController();
  #lastId = "";

  /**
   * @param {{room: string, token: string, rate?: number, form?: string, overlay?: boolean}} options
   * @param {(state: object, changed: object|null) => void} onState receives the patch, or null for
   *   a new state
   * @param {(status: {state: "live"|"lost"|"refused"|"missing", text?: string, retryIn?: number})
   *   => void} onStatus
   */
  constructor(options, onState, onStatus) {
    this.options = options;
    this.onState = onState;
    this.onStatus = onStatus;
    this.#run(this.#abort.signal);
  }

  close() {
    this.#abort.abort();
  }

  async #run(signal) {
    for (let failures = 0; !signal.aborted; failures++) {
      let wasLive = false;
      try {
        await this.#follow(signal, () => {
          wasLive = true;
          this.onStatus({ state: "live" });
        });
      } catch (error) {
        if (signal.aborted) return;
        if (error.final) {
          this.onStatus(error.final);
          // An overlay keeps trying: nobody watches over it, and it may be set up before its room
          // is open.
          if (!this.options.overlay) return;
        }
      }
      if (wasLive) failures = 0;
      const wait = failures === 0 ? 300 : Math.min(10_000, 500 * 2 ** failures) * (0.5 + Math.random() / 2);
      this.onStatus({ state: "lost", retryIn: wait });
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }

  async #follow(signal, onLive) {
    const { room, token, rate, form, overlay } = this.options;
    const query = new URLSearchParams({ of: form ?? "screen" });
    if (rate) query.set("rate", rate);
    if (overlay) query.set("t", token);
    const headers = overlay ? {} : { "X-Livehost-Token": token };
    if (this.#lastId) headers["Last-Event-ID"] = this.#lastId;
    const attempt = new AbortController();
    const stop = () => attempt.abort();
    signal.addEventListener("abort", stop);
    let watchdog = setTimeout(stop, silence);
    try {
      const url = `/api/rooms/${encodeURIComponent(room)}/events?${query}`;
      const response = await fetch(url, { headers, signal: attempt.signal, cache: "no-store" });
      if (!response.ok) throw await refusal(response);
      const parser = new EventParser();
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let state = null;
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return;
        clearTimeout(watchdog);
        watchdog = setTimeout(stop, silence);
        for (const event of parser.take(value)) {
          if (event.id) this.#lastId = event.id;
          if (event.type === "state") {
            state = JSON.parse(event.data);
            onLive();
            this.onState(state, null);
          } else if (event.type === "patch") {
            const patch = JSON.parse(event.data);
            state = merge(state, patch);
            this.onState(state, patch);
          }
        }
      }
    } finally {
      clearTimeout(watchdog);
      signal.removeEventListener("abort", stop);
    }
  }
}

/** Converts an error response; `final` is set if repeating the request is pointless. */
async function refusal(response) {
  const reply = await response.json().catch(() => ({}));
  const error = new Error(reply.text ?? reply.error ?? response.statusText);
  if (response.status === 401 || response.status === 403) error.final = { state: "refused", text: error.message };
  if (response.status === 404) error.final = { state: "missing", text: "The room does not exist." };
  return error;
}

/** Calls a method of the control interface. */
export const call = async (token, method, parameters = {}) => (await post(token, `/api/call/${method}`, parameters)).json();

/** Requests a path and returns the response as JSON. */
export async function get(token, path) {
  return (await checked(await fetch(path, { headers: { "X-Livehost-Token": token }, cache: "no-store" }))).json();
}

/** Yields the replies of a request: lines of JSON, the last of which may be an error. */
export async function* lines(token, path, body, signal) {
  const response = await post(token, path, body, signal);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n");
    rest = parts.pop();
    for (const part of parts) {
      const reply = JSON.parse(part);
      if (reply.error) throw failure(reply);
      yield reply;
    }
  }
}

const post = async (token, path, body, signal) => checked(await fetch(path, {
  method: "POST", headers: { "Content-Type": "application/json", "X-Livehost-Token": token }, body: JSON.stringify(body), signal,
}));

async function checked(response) {
  if (!response.ok) throw failure(await response.json());
  return response;
}

/** Converts an error reply; its name becomes `code`. */
function failure({ error, text, parameters }) {
  const code = error.split(".").pop();
  const details = Object.values(parameters ?? {}).join(", ");
  return Object.assign(new Error(text ?? (details ? `${code}: ${details}` : code)), { code });
}
