import { HangList } from "./hangs.js";
import { ScreenView, count, number, write } from "./nodes.js";
import { RoomList } from "./rooms.js";
import { Simulations } from "./simulate.js";
import { RoomStream, call, get, lines } from "./stream.js";

// The token follows the # of the link, which browsers never send to a server. It is stored for this
// tab only.
const token = (() => {
  const given = new URLSearchParams(location.hash.slice(1)).get("t");
  if (given) {
    sessionStorage.setItem("token", given);
    history.replaceState(null, "", location.pathname + location.search);
  }
  return given ?? sessionStorage.getItem("token") ?? "";
})();

const bar = {
  views: document.getElementById("views"),
  rooms: document.getElementById("rooms"),
  connection: document.getElementById("connection"),
  pause: document.getElementById("pause"),
  help: document.getElementById("help"),
};
const foot = document.getElementById("foot");
const screen = document.getElementById("screen");
const keys = document.getElementById("keys");
const message = document.getElementById("message");
// What the link permits, as the server reports it. The server checks every request; the page hides
// what would be refused.
let own = { role: "host" };
const may = (method) => own.methods?.includes(method) ?? true;
const allows = ({ method, parameters }) => may(method)
  && (method !== "Act" || (own.acts?.includes(parameters?.kind) ?? true));
const view = new ScreenView(screen, { charts: true, onAct: act, allows });

const page = {
  call: (method, parameters) => call(token, method, parameters),
  get: (path) => get(token, path),
  stream: (path, body, signal) => lines(token, path, body, signal),
  show: (name) => {
    open(name);
    turnTo("screen");
    listRooms();
  },
  tell,
};

// The views of the page, by the identifiers of their elements.
const views = {
  screen: { title: "Screen", open: draw, close() {} },
  list: Object.assign(new RoomList(document.getElementById("list"), page), { title: "Rooms" }),
  hangs: Object.assign(new HangList(document.getElementById("hangs"), page), { title: "Hangs" }),
  simulate: Object.assign(
    new Simulations(document.getElementById("simulate"), page), { title: "Simulate", method: "Simulate" }),
};

let shown = "screen";
let room = new URLSearchParams(location.search).get("room") ?? "";
let stream = null;
let latest = null;
let isPaused = false;
let isDrawing = false;

// MARK: Drawing

/** Draws at most once per frame of the display, however often the state changes. */
function draw() {
  if (isDrawing || isPaused || document.hidden || shown !== "screen") return;
  isDrawing = true;
  requestAnimationFrame(() => {
    isDrawing = false;
    if (!latest || isPaused) return;
    view.draw(latest);
    measureHead();
    foot.textContent = footText(latest);
  });
}

/** Returns the counters of the room's events as text. */
function footText({ counters, actions, frames }) {
  if (!counters) return "";
  const kinds = ["applied", "coalesced", "rejected", "pending"].map((kind) => `${number(counters[kind])} ${kind}`);
  const work = actions === undefined ? [] : [`${count(actions, "action")}, ${count(frames ?? 0, "frame")}`];
  return [`${count(counters.received, "event")} = ${kinds.join(" + ")}`, ...work].join("   ");
}

/** Measures the height above the scrolling panel, which takes the rest of the window. */
function measureHead() {
  const panel = screen.querySelector(".panel:has(.scrolling)");
  // Positions are compared with the container, so that scrolling does not affect them.
  const above = panel ? Math.round(panel.parentElement.querySelector(":scope > .panel").getBoundingClientRect().bottom
    - panel.parentElement.getBoundingClientRect().top) + 12 : 0;
  if (screen.dataset.head !== String(above)) {
    screen.dataset.head = above;
    screen.style.setProperty("--head", `${above}px`);
  }
}

/** Shows another view. The stream of the room continues, so that returning shows it immediately. */
function turnTo(name) {
  if (views[name].method && !may(views[name].method)) return;
  views[shown].close();
  shown = name;
  for (const key of Object.keys(views)) document.getElementById(key).hidden = key !== name;
  for (const button of bar.views.children) {
    if (button.dataset.view === name) button.setAttribute("aria-current", "page");
    else button.removeAttribute("aria-current");
  }
  bar.rooms.hidden = name !== "screen";
  bar.pause.hidden = name !== "screen";
  foot.hidden = name !== "screen";
  note();
  views[name].open();
}

/** Stores the room and the view in the address. */
function note() {
  const query = new URLSearchParams({ ...(room ? { room } : {}), ...(shown === "screen" ? {} : { view: shown }) });
  history.replaceState(null, "", query.size ? `?${query}` : location.pathname);
  document.title = `${shown === "screen" ? room : views[shown].title} · livehost`;
}

function show(status) {
  bar.connection.dataset.state = status.state;
  const texts = {
    live: "live",
    lost: "The connection is lost. Reconnecting …",
    refused: "This page needs a valid link: ask the host for one, or run 'livehostctl web' and open its first link.",
    missing: status.text,
  };
  bar.connection.textContent = texts[status.state] ?? "";
  screen.classList.toggle("stale", status.state !== "live");
  if (status.state === "missing") setTimeout(listRooms, 1000);
  // Without access, nothing of the room stays visible.
  if (status.state === "refused") {
    latest = null;
    screen.replaceChildren();
    foot.textContent = "";
  }
}

function open(name) {
  stream?.close();
  room = name;
  latest = null;
  screen.replaceChildren();
  note();
  markRoom();
  follow();
}

function follow() {
  // A higher rate looks more restless, and costs the browser twice as much.
  stream = new RoomStream({ room, token, rate: 5 }, (state) => {
    latest = state;
    draw();
  }, show);
}

// MARK: Acting

async function act({ method, parameters, parameter, text: textParameter }, value, text) {
  const given = { [parameter]: value, [textParameter]: text };
  delete given[undefined];
  try {
    // JSON leaves out parameters that are undefined.
    const reply = await call(token, method, { room, ...parameters, ...given });
    if (reply.outcome === "refused") tell(`Refused: ${reply.reason ?? "no reason given"}`);
  } catch (error) {
    tell(error.message);
  }
}

let silence = 0;

/** Shows a message for some seconds. */
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
  ["p", "show the previous room", () => step(-1)],
  ["G", "go to the newest message", () => {
    for (const list of screen.querySelectorAll(".scrolling")) list.scrollTop = list.scrollHeight;
  }],
  ["/", "filter the chat by words", () => {
    turnTo("screen");
    screen.querySelector(".ask input")?.focus();
  }],
  ["↑ ↓", "in the chat: select a message"],
  ["← →", "in the chat: select an act on the message"],
  ...Object.entries(views).map(([name, { title }], index) => [`${index + 1}`, `go to ${title}`, () => turnTo(name)]),
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
  const { target } = event;
  if (target.closest("textarea, select, input:not([type=range], [type=checkbox])")) return;
  // Space presses a focused button.
  if (event.key === " " && target.closest("button, input")) return;
  const name = event.key === " " ? "Space" : event.key;
  const shortcut = shortcuts.find(([key, , body]) => key === name && body);
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

let leaving = 0;

// The stream of a hidden page ends after a while, because a browser allows only six over all its
// tabs.
document.addEventListener("visibilitychange", () => {
  clearTimeout(leaving);
  if (document.hidden) {
    leaving = setTimeout(() => {
      stream?.close();
      stream = null;
    }, 30_000);
  } else if (room && !stream) {
    follow();
  } else {
    draw();
  }
});

bar.views.append(...Object.entries(views).map(([name, { title }]) => {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = title;
  button.dataset.view = name;
  button.addEventListener("click", () => turnTo(name));
  return button;
}));
const wanted = new URLSearchParams(location.search).get("view");
turnTo(Object.hasOwn(views, wanted ?? "") ? wanted : "screen");
begin();

/** Reads what the link permits, then opens the room. */
async function begin() {
  try {
    own = await get(token, "/api/self");
  } catch (error) {
    const isRefused = error.code === "token";
    show({ state: isRefused ? "refused" : "lost" });
    if (!isRefused) setTimeout(begin, 2000);
    return;
  }
  for (const button of bar.views.children) {
    const { method } = views[button.dataset.view];
    button.hidden = method !== undefined && !may(method);
  }
  if (views[shown].method && !may(views[shown].method)) turnTo("screen");
  document.querySelector("#list form").hidden = !may("OpenRoom");
  const person = document.getElementById("person");
  write(person, own.name ? `${own.name}, ${own.role}` : own.role);
  person.hidden = !own.name && own.role === "host";
  listRooms();
}
