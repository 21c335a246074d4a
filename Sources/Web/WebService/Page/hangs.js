import { ScreenView, count, number } from "./nodes.js";
import { Repeated, act, badge, column, draw, gauge, panel, row, save, table, text } from "./tree.js";

const milliseconds = (microseconds) => `${number(Math.round(microseconds / 1000))} ms`;

/** Returns the time; with the date unless it is today. */
const time = (moment) => (moment.toDateString() === new Date().toDateString()
  ? moment.toLocaleTimeString("en-GB") : moment.toLocaleString("en-GB"));

/** The list of the daemon's hangs, newest first. */
export class HangList {
  #hangs = [];

  constructor(root, page) {
    this.page = page;
    this.view = new ScreenView(root.querySelector(".content"), { onAct: ({ parameters }) => this.#explain(parameters.hang) });
    this.why = new ScreenView(root.querySelector(".why"));
    this.repeated = new Repeated(2000, () => this.#refresh());
    root.querySelector("#trace").addEventListener("click", () => {
      save("livehost-hangs.json", "application/json", JSON.stringify(trace(this.#hangs)));
    });
  }

  open() { this.repeated.start(); }

  close() { this.repeated.stop(); }

  async #refresh() {
    try {
      this.#hangs = (await this.page.call("ListHangs")).hangs;
      draw(this.view, this.#tree(this.#hangs));
    } catch (error) {
      draw(this.view, text(error.message, "warning"));
    }
  }

  #tree(hangs) {
    if (!hangs.length) return text("No thread was held for 250 ms or more since the daemon started.", "good");
    const longest = Math.max(...hangs.map((hang) => hang.durationMicroseconds));
    const real = hangs.filter((hang) => hang.kind === "hang").length;
    const lines = hangs.slice(-100).reverse().map((hang) => [
      text(time(new Date(hang.timestamp))),
      gauge(hang.durationMicroseconds / longest, milliseconds(hang.durationMicroseconds)),
      badge(hang.kind.toUpperCase(), hang.kind === "hang" ? "bad" : "warning"),
      text(hang.room ?? "–", hang.room ? undefined : "faint"),
      row(...holder(hang)), text(spent(hang), "faint"), act("why", { hang }),
    ]);
    return column(
      row(text(count(real, "hang"), real ? "bad" : "good"), text(count(hangs.length - real, "microhang"), "warning"),
        text(`longest ${milliseconds(longest)}`)),
      table(["when", "length", "?class", "?room", "held by", "?where the time went", ""], lines));
  }

  /** Shows why the views in the hang's turn were evaluated: actions and fields. */
  async #explain(hang) {
    const name = `Hang ${hang.number}: ${holder(hang).map((part) => part.text).join(" ")}`;
    try {
      draw(this.why, panel("why", name, ...await this.#causes(hang)));
    } catch (error) {
      draw(this.why, panel("why", name, text(error.message, "warning")));
    }
    this.why.root.scrollIntoView({ block: "nearest" });
  }

  async #causes(hang) {
    const { room, view, action, effect } = hang;
    if (!room) return [text("This hang belongs to no room.", "faint")];
    const views = view ? [view] : Object.keys((await this.page.call("GetRoom", { room })).views ?? {});
    const all = await Promise.all(views.map((name) => this.page.call("Explain", { room, view: name })));
    const lines = all
      .flatMap((one) => one.causes.filter((cause) => view || cause.action === action).map((cause) => ({ ...cause, view: one.view })))
      .sort((left, right) => right.count - left.count).slice(0, 20)
      .map((cause) => [text(cause.view), text(cause.action ?? "–", "strong"), text(cause.field ?? "–"),
        text(causes[cause.kind] ?? cause.kind, "faint"), text(number(cause.count))]);
    if (!lines.length) {
      return [text(effect ? `The effect ${effect} ran; effects evaluate no views.` : "No view was evaluated in this turn.",
        "faint")];
    }
    const about = view ? `Why ${view} was evaluated` : `Evaluations that ${action} caused`;
    return [text(`${about}, since the room was opened:`, "faint"), table(["view", "action", "field", "cause", "times>"], lines)];
  }
}

const causes = {
  firstAppearance: "appeared", ownRead: "it reads the field", presence: "a child appeared or disappeared", changedInput: "its parent passed on a change",
};

function holder({ action, view, effect }) {
  for (const [kind, name] of Object.entries({ action, view, effect })) if (name) return [text(kind, "faint"), text(name, "strong")];
  return [text("unknown", "faint")];
}

function spent({ reason, processorMicroseconds, waitedMicroseconds }) {
  const parts = [];
  if (processorMicroseconds !== undefined) parts.push(`${milliseconds(processorMicroseconds)} computing`);
  if (waitedMicroseconds !== undefined) parts.push(`${milliseconds(waitedMicroseconds)} without a processor`);
  return parts.length ? `${reason}: ${parts.join(", ")}` : reason;
}

/** Returns the hangs in the format of Chromium's traces, which Perfetto can open. */
function trace(hangs) {
  return {
    displayTimeUnit: "ms",
    traceEvents: hangs.map((hang) => ({
      name: hang.action ?? hang.view ?? hang.effect ?? "unknown", cat: hang.kind, ph: "X", pid: 1, tid: hang.lane,
      ts: hang.timestamp * 1000, dur: hang.durationMicroseconds, args: hang,
    })),
  };
}
