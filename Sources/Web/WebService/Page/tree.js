// Trees of nodes, as the daemon's views make them, for what is not a room.

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
 * @param {string[]} titles those of columns of figures end in ">" and stand on the right; after "?" a column is left out
 *   where there is no space for it
 */
export const table = (titles, rows) => ({
  kind: "table",
  columns: titles.map((each) => ({
    title: each.replace(/^\?|>$/g, ""), alignment: each.endsWith(">") ? "right" : "left", optional: each.startsWith("?"),
  })),
  parts: rows.map((cells) => row(...cells)),
});

/** What a view draws of a tree. */
export const draw = (view, tree) => view.draw({ root: 0, views: { 0: { output: tree } } });

/** Offers a text as a file. */
export function save(name, type, content) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Calls a function at once and again, each time some time after it has ended, while a view is shown. */
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
