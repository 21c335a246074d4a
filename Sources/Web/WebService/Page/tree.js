// Creates trees of nodes, in the form of the daemon's views, for pages that do not show a room.

export const text = (value, emphasis) => ({ kind: "text", text: String(value), emphasis });
export const badge = (value, emphasis) => ({ kind: "badge", text: value, emphasis });
export const row = (...parts) => ({ kind: "row", parts });
export const column = (...parts) => ({ kind: "column", parts });
export const sparkline = (samples) => ({ kind: "sparkline", samples });
export const gauge = (value, detail, emphasis) => ({ kind: "gauge", text: "", value, detail, emphasis });
export const panel = (name, title, ...parts) => ({ kind: "panel", text: title, panel: { name }, parts });

/** A button. */
export const act = (label, parameters) => ({ kind: "text", text: "", acts: [{ label, method: label, parameters }] });

/**
 * @param {string[]} titles ">" at the end aligns a column to the right; "?" at the beginning allows
 *   dropping the column when space is short
 */
export const table = (titles, rows) => ({
  kind: "table",
  columns: titles.map((each) => ({
    title: each.replace(/^\?|>$/g, ""), alignment: each.endsWith(">") ? "right" : "left", optional: each.startsWith("?"),
  })),
  parts: rows.map((cells) => row(...cells)),
});

/** Draws a tree in a view. */
export const draw = (view, tree) => view.draw({ root: 0, views: { 0: { output: tree } } });

/** Offers a text as a file. */
export function save(name, type, content) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/**
 * Calls a function immediately and repeatedly while a view is shown, with a pause after each call.
 */
export class Repeated {
  #timer = 0;
  #isOn = false;

  constructor(milliseconds, body) {
    this.milliseconds = milliseconds;
    this.body = body;
  }

  start() {
    this.#isOn = true;
    this.#turn();
  }

  stop() {
    this.#isOn = false;
    clearTimeout(this.#timer);
  }

  async #turn() {
    clearTimeout(this.#timer);
    if (!document.hidden) await this.body();
    if (this.#isOn) this.#timer = setTimeout(() => this.#turn(), this.milliseconds);
  }
}
