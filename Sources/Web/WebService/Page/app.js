import { ScreenView, count, number } from "./nodes.js";
import { RoomStream, call } from "./stream.js";

// The token comes behind the # of the link, which browsers send to nobody. It stays in this tab.
const token = (() => {
  const given = new URLSearchParams(location.hash.slice(1)).get("t");
  if (given) {
    sessionStorage.setItem("token", given);
    history.replaceState(null, "", location.pathname + location.search);
  }
  return given ?? sessionStorage.getItem("token") ?? "";
})();

const bar = {
  rooms: document.getElementById("rooms"),
  connection: document.getElementById("connection"),
  pause: document.getElementById("pause"),
  help: document.getElementById("help"),
};
const foot = document.getElementById("foot");
const screen = document.getElementById("screen");
const keys = document.getElementById("keys");
const message = document.getElementById("message");
const view = new ScreenView(screen, { onAct: act });

let room = new URLSearchParams(location.search).get("room") ?? "";
let stream = null;
let latest = null;
let isPaused = false;
let isDrawing = false;

// MARK: Drawing

/** Draws at most once per frame of the display, however often the state changes. */
function draw() {
  if (isDrawing || isPaused || document.hidden) return;
  isDrawing = true;
  requestAnimationFrame(() => {
    isDrawing = false;
    if (!latest || isPaused) return;
    view.draw(latest);
    measureHead();
    foot.textContent = footText(latest);
  });
}

/** Where the events of the room went. */
function footText({ counters, actions, frames }) {
  if (!counters) return "";
  const kinds = ["applied", "coalesced", "rejected", "pending"].map((kind) => `${number(counters[kind])} ${kind}`);
  const work = actions === undefined ? [] : [`${count(actions, "action")}, ${count(frames ?? 0, "frame")}`];
  return [`${count(counters.received, "event")} = ${kinds.join(" + ")}`, ...work].join("   ");
}

/** How much stands above what scrolls, which takes the rest of the window. */
function measureHead() {
  const panel = screen.querySelector(".panel:has(.scrolling)");
  // Without what scrolling has moved.
  const above = panel ? Math.round(panel.parentElement.querySelector(":scope > .panel").getBoundingClientRect().bottom
    - panel.parentElement.getBoundingClientRect().top) + 12 : 0;
  if (screen.dataset.head !== String(above)) {
    screen.dataset.head = above;
    screen.style.setProperty("--head", `${above}px`);
  }
}

function show(status) {
  bar.connection.dataset.state = status.state;
  const texts = {
    live: "live",
    lost: "The connection is lost. Trying again …",
    refused: "This page needs a link with a token: run 'livehostctl web' and open what it prints.",
    missing: status.text,
  };
  bar.connection.textContent = texts[status.state] ?? "";
  screen.classList.toggle("stale", status.state !== "live");
  if (status.state === "missing") setTimeout(listRooms, 1000);
}

function open(name) {
  stream?.close();
  room = name;
  latest = null;
  screen.replaceChildren();
  document.title = `${name} · livehost`;
  history.replaceState(null, "", `?room=${encodeURIComponent(name)}`);
  markRoom();
  stream = new RoomStream({ room, token, rate: 20 }, (state) => {
    latest = state;
    draw();
  }, show);
}

// MARK: Acting

async function act({ method, parameters, parameter }, value) {
  try {
    const given = parameter === undefined || value === undefined ? {} : { [parameter]: value };
    const reply = await call(token, method, { room, ...parameters, ...given });
    if (reply.outcome === "refused") tell(`Refused: ${reply.reason ?? "no reason given"}`);
  } catch (error) {
    tell(error.message);
  }
}

let silence = 0;

/** Says something for some seconds. */
function tell(text) {
  message.textContent = text;
  message.hidden = false;
  clearTimeout(silence);
  silence = setTimeout(() => { message.hidden = true; }, 6000);
}

// MARK: Rooms

async function listRooms() {
  let rooms;
  try {
    ({ rooms } = await call(token, "ListRooms"));
  } catch (error) {
    show(token ? { state: "missing", text: error.message } : { state: "refused" });
    if (token) setTimeout(listRooms, 2000);
    return;
  }
  const names = rooms.map((entry) => entry.room);
  bar.rooms.replaceChildren(...names.map((name) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = name;
    button.addEventListener("click", () => open(name));
    return button;
  }));
  if (names.length === 0) {
    show({ state: "missing", text: "No room is open yet." });
    setTimeout(listRooms, 2000);
  } else if (!stream || !names.includes(room)) {
    open(names.includes(room) ? room : names.includes("main") ? "main" : names[0]);
  }
  markRoom();
}

function markRoom() {
  for (const button of bar.rooms.children) {
    if (button.textContent === room) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
  }
}

// MARK: Keys

const shortcuts = [
  ["Space", "pause, and continue", () => bar.pause.click()],
  ["n", "show the next room", () => step(1)],
  ["p", "show the room before", () => step(-1)],
  ["G", "go to the newest message", () => {
    for (const list of screen.querySelectorAll(".scrolling")) list.scrollTop = list.scrollHeight;
  }],
  ["?", "this list", () => bar.help.click()],
];

function step(by) {
  const names = [...bar.rooms.children].map((button) => button.textContent);
  if (names.length > 1) open(names[(names.indexOf(room) + by + names.length) % names.length]);
}

keys.querySelector("dl").append(...shortcuts.flatMap(([key, text]) => {
  const [term, definition] = [document.createElement("dt"), document.createElement("dd")];
  term.textContent = key;
  definition.textContent = text;
  return [term, definition];
}));

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || keys.open) return;
  if (event.target.closest("input, textarea, select, button")) return;
  const name = event.key === " " ? "Space" : event.key;
  const shortcut = shortcuts.find(([key]) => key === name);
  if (!shortcut) return;
  event.preventDefault();
  shortcut[2]();
});

bar.pause.addEventListener("click", () => {
  isPaused = !isPaused;
  bar.pause.setAttribute("aria-pressed", isPaused);
  bar.pause.textContent = isPaused ? "Continue" : "Pause";
  draw();
});
bar.help.addEventListener("click", () => keys.showModal());
document.addEventListener("visibilitychange", draw);

listRooms();
