import { ScreenView } from "./nodes.js";
import { RoomStream } from "./stream.js";

// The panels of each overlay, by the last part of its address.
const panels = { chat: ["chat"], activity: ["activity"], poll: ["poll"], viewers: ["header"] };

const query = new URLSearchParams(location.search);
const part = location.pathname.split("/").pop();
const screen = document.getElementById("screen");
document.documentElement.dataset.overlay = part;
for (const option of ["align", "size", "heading"]) {
  if (query.has(option)) document.documentElement.dataset[option] = query.get(option);
}

const view = new ScreenView(screen, { panels: panels[part] ?? [part] });
new RoomStream(
  { room: query.get("room") ?? "main", token: query.get("t") ?? "", rate: 10, overlay: true },
  (state) => requestAnimationFrame(() => view.draw(state)),
  ({ state }) => { if (state !== "live") screen.replaceChildren(); });
