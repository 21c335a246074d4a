import { ScreenView, number } from "./nodes.js";
import { Repeated, act, badge, column, draw, row, sparkline, table, text } from "./tree.js";

/** The list of rooms, with the counters of their events. */
export class RoomList {
  #before = new Map();
  #rates = new Map();

  /** @param {{call: Function, show: (room: string) => void, tell: (text: string) => void}} page */
  constructor(root, page) {
    this.page = page;
    this.view = new ScreenView(root.querySelector(".content"), { onAct: async ({ parameters }) => page.show(parameters.room) });
    this.repeated = new Repeated(1000, () => this.#refresh());
    root.querySelector("form").addEventListener("submit", (event) => this.#open(event));
  }

  open() { this.repeated.start(); }

  close() { this.repeated.stop(); }

  async #open(event) {
    event.preventDefault();
    const { room } = event.target.elements;
    try {
      await this.page.call("OpenRoom", { room: room.value });
      event.target.reset();
      await this.#refresh();
    } catch (error) {
      this.page.tell(error.message);
    }
  }

  async #refresh() {
    try {
      const { rooms } = await this.page.call("ListRooms");
      this.#measure(rooms);
      draw(this.view, this.#tree(rooms));
    } catch (error) {
      draw(this.view, text(error.message, "warning"));
    }
  }

  /** Computes the events per second since the last call. */
  #measure(rooms) {
    const now = performance.now();
    for (const { room, counters } of rooms) {
      const before = this.#before.get(room);
      const rate = before ? Math.max(0, (counters.received - before.received) * 1000 / (now - before.at)) : 0;
      this.#before.set(room, { at: now, received: counters.received });
      this.#rates.set(room, [...(this.#rates.get(room) ?? []), rate].slice(-60));
    }
  }

  #tree(rooms) {
    if (!rooms.length) return text("No room is open yet.", "faint");
    const lines = rooms.map(({ room, phase, viewers, counters }) => {
      const rates = this.#rates.get(room);
      const figures = ["received", "coalesced", "rejected", "pending"].map((kind) => text(
        number(counters[kind]), kind === "rejected" && counters[kind] ? "warning" : undefined));
      return [act(room, { room }), badge(phase.toUpperCase(), phase === "live" ? "active" : "faint"),
        text(number(viewers)), text(number(Math.round(rates.at(-1)))), sparkline(rates), ...figures];
    });
    return column(table(
      ["room", "phase", "viewers>", "?events/s>", "?last minute", "?received>", "?coalesced>", "?rejected>", "?pending>"], lines),
      row());
  }
}
