// Draws the output of a room's views. There is one function for each kind of node, and none for any
// particular part of the screen.
//
// Nodes are compared with those drawn before, so that an element stays in place where nothing has
// changed. This preserves focus, selection and scroll positions.

/** Draws a screen and updates the elements when the screen changes. */
export class ScreenView {
  #views = {};

  /**
   * @param {HTMLElement} root
   * @param {{panels?: string[], charts?: boolean, allows?: (act: object) => boolean,
   *   onAct?: (act: object, value: string|number|undefined, text: string|undefined) => Promise<void>}}
   *   options the panels to show, by default all; whether histories in tables are also drawn as
   *   charts; which acts are offered, by default all; and the function that performs an act,
   *   without which no acts are offered
   */
  constructor(root, options = {}) {
    this.root = root;
    this.options = options;
  }

  draw(screen) {
    this.#views = screen.views;
    const output = this.#views[screen.root]?.output;
    const shown = this.root.firstElementChild;
    const next = output ? this.#update(shown, output) : null;
    // Reinserting an element would lose its focus.
    if (next !== shown) this.root.replaceChildren(...(next ? [next] : []));
  }

  /** Updates an element for a node; returns the element, or its replacement. */
  #update(element, given) {
    const node = this.#resolved(given);
    if (element?.node === node) return element;
    if (this.#offers(node)) return this.#acting(element, node);
    const kind = node.scrolling === undefined ? node.kind : "log";
    if (!element || element.dataset.kind !== kind) {
      element = document.createElement(elements[node.kind]?.(node) ?? "div");
      element.dataset.kind = kind;
      element.className = node.kind;
    }
    set(element, "emphasis", node.emphasis);
    this[`_${node.kind}`]?.(element, node);
    element.node = this.#hasChildren(node) ? null : node;
    return element;
  }

  /** Returns the output of the view that a child node refers to. */
  #resolved(node) {
    return node.kind === "child" ? this.#resolved(this.#views[node.view]?.output ?? { kind: "empty" }) : node;
  }

  /** Returns the acts of a node that the user may perform. */
  #acts(node) {
    const { onAct, allows } = this.options;
    return onAct ? (node.acts ?? []).filter((act) => allows?.(act) ?? true) : [];
  }

  /** Whether acts of a node become buttons next to it. */
  #offers(node) {
    return node.kind !== "list" && this.#acts(node).some((act) => act.input !== "level");
  }

  /** A node with buttons. */
  #acting(element, node) {
    if (!element || element.dataset.kind !== "acting") {
      element = document.createElement("div");
      element.dataset.kind = element.className = "acting";
      element.append(document.createElement("div"), document.createElement("div"));
      element.lastElementChild.className = "acts";
    }
    const [shown, offers] = element.children;
    const acts = this.#acts(node);
    const next = this.#update(shown, { ...node, acts: acts.filter((act) => act.input === "level") });
    if (next !== shown) shown.replaceWith(next);
    Object.assign(element, { acts: acts.filter((act) => act.input !== "level"), isLong: node.isLong });
    // In a long list, buttons are created only when needed. Few of them are ever seen, and during a
    // flood they took a quarter of the page's time.
    if (!node.isLong || offers.firstElementChild) this.#offer(element);
    return element;
  }

  /** Updates the buttons of an element to the acts of its node. */
  #offer({ acts, isLong, lastElementChild: offers }) {
    while (offers.children.length > acts.length) offers.lastElementChild.remove();
    acts.forEach((act, index) => {
      let offer = offers.children[index];
      // A question that the user is answering stays open, unless another act replaces the old one.
      if (offer?.isOpen && offer.act.label === act.label && offer.act.value === act.value) return;
      // An act that must be confirmed begins with a button.
      const isText = act.input === "text" && !act.confirms;
      if (!offer || offer.isOpen || (offer.tagName === "FORM") !== isText) {
        const made = isText ? this.#question() : this.#button();
        if (offer) offer.replaceWith(made);
        else offers.append(made);
        offer = made;
      }
      offer.act = act;
      if (isText) Object.assign(offer.firstElementChild, { placeholder: act.label, ariaLabel: act.label });
      else {
        write(offer, act.label);
        offer.tabIndex = isLong ? -1 : 0;
      }
    });
  }

  /** Opens an input for a line of text. */
  #question() {
    const [form, input] = [document.createElement("form"), document.createElement("input")];
    form.className = "ask";
    form.append(input);
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      if (!input.value) return;
      await this.options.onAct(form.act, input.value);
      input.value = "";
    });
    return form;
  }

  #button() {
    const button = document.createElement("button");
    button.type = "button";
    button.addEventListener("click", async () => {
      if (button.act.confirms || button.act.text) return this.#ask(button);
      // The button is not disabled, because that would lose the focus.
      if (button.ariaBusy === "true") return;
      button.ariaBusy = "true";
      await this.options.onAct(button.act, button.act.value);
      button.ariaBusy = "false";
    });
    return button;
  }

  /**
   * Replaces the button of an act by a question: for the text that the act needs, and whether to
   * perform it.
   */
  #ask(button) {
    const { act } = button;
    const form = document.createElement("form");
    Object.assign(form, { act, isOpen: true, className: "ask question", ariaLabel: act.label });
    const [cancel, submit] = [document.createElement("button"), document.createElement("button")];
    cancel.type = "button";
    cancel.textContent = "Cancel";
    submit.className = act.confirms ? "confirm" : "";
    write(submit, act.confirms ? `Confirm: ${act.label}` : act.label);
    const needsText = act.text || act.input === "text";
    const input = needsText ? document.createElement("input") : null;
    if (input) Object.assign(input, { placeholder: act.label, ariaLabel: `Text of ${act.label}`, maxLength: 500, required: true });
    // If no text is needed, Cancel takes the button's place, so a double click does not confirm.
    form.append(...(input ? [input] : []), cancel, submit);
    const close = () => {
      const next = this.#button();
      next.act = act;
      write(next, act.label);
      next.tabIndex = button.tabIndex;
      form.replaceWith(next);
      next.focus();
    };
    cancel.addEventListener("click", close);
    form.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Escape") close();
    });
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      if (form.ariaBusy === "true") return;
      form.ariaBusy = "true";
      const value = act.input === "text" ? input.value : act.value;
      await this.options.onAct(act, value, act.text ? input.value : undefined);
      if (form.isConnected) close();
    });
    button.replaceWith(form);
    (input ?? cancel).focus();
  }

  /** Returns the rows of a list, each with its acts. */
  #rows(node) {
    const acts = this.#acts(node).filter((act) => act.input === "row" || act.input === "numberedRow");
    const rows = node.parts ?? [];
    if (!acts.length) return rows;
    return rows.map((row) => {
      const own = acts.filter((act) => !act.groups || act.groups.includes(row.group));
      return {
        ...row, isLong: node.scrolling !== undefined,
        acts: own.map((act) => ({ ...act, value: act.input === "row" ? row.id : Number(row.id) })),
      };
    });
  }

  /**
   * Whether the content may change although the node is the same object, because another view draws
   * a part of it.
   */
  #hasChildren(node) {
    return node.kind === "child" || (node.parts ?? []).some((part) => this.#hasChildren(part));
  }

  /**
   * Updates the children of an element for a list of nodes. Nodes with an id, panels and the
   * scrolling list keep their elements, which do not move unless their order changes: moving an
   * element would lose its focus and its scroll position.
   */
  #fill(element, given) {
    const nodes = given.map((node) => this.#resolved(node)).filter(({ kind }) => kind !== "empty");
    const ids = new Set(nodes.map(identity));
    const known = new Map();
    for (const child of [...element.children]) {
      const { id } = child.dataset;
      if (id === undefined) continue;
      if (ids.has(id)) known.set(id, child);
      else child.remove();
    }
    let at = element.firstElementChild;
    const removeNext = () => {
      const gone = at;
      at = at.nextElementSibling;
      gone.remove();
    };
    for (const node of nodes) {
      const id = identity(node);
      if (known.has(id)) while (at && at.dataset.id === undefined) removeNext();
      const old = id !== undefined ? known.get(id) : at?.dataset.id === undefined ? at : null;
      const next = this.#update(old ?? null, node);
      if (id !== undefined) {
        next.dataset.id = id;
        known.delete(id);
      }
      if (next === at) at = at.nextElementSibling;
      else {
        element.insertBefore(next, at);
        if (old && old !== next) {
          if (old === at) at = at.nextElementSibling;
          old.remove();
        }
      }
    }
    while (at) removeNext();
  }

  _text(element, node) {
    if (node.emphasis === "person") return this.#person(element, node);
    if (node.marks) return this.#marked(element, node);
    if (element.firstElementChild) element.replaceChildren();
    write(element, node.text ?? "");
  }

  /** Draws a text with highlighted ranges; positions count code points. */
  #marked(element, { text = "", marks }) {
    const points = [...text];
    const pieces = [];
    let end = 0;
    for (let index = 0; index + 1 < marks.length; index += 2) {
      const [from, to] = marks.slice(index, index + 2);
      if (from < end || to <= from || to > points.length) continue;
      const mark = document.createElement("em");
      write(mark, points.slice(from, to).join(""));
      pieces.push(harmless(points.slice(end, from).join("")), mark);
      end = to;
    }
    element.replaceChildren(...pieces, harmless(points.slice(end).join("")));
  }

  /**
   * Draws the name of a person, after the person's role in the room and before the remark about the
   * person.
   */
  #person(element, { text = "", standing, detail, color }) {
    const [light, dark] = color ? readable(color) : [];
    for (const [name, value] of [["--hue", hue(text.replace(/:$/, ""))], ["--light", light], ["--dark", dark]]) {
      if (value === undefined) element.style.removeProperty(name);
      else element.style.setProperty(name, value);
    }
    set(element, "own", color ? "true" : undefined);
    const name = detail ? `${text} ${detail}` : text;
    if (!standing) return write(element, name);
    if (!element.firstElementChild) {
      element.replaceChildren(document.createElement("span"), " ", document.createElement("span"));
      element.firstElementChild.className = "standing";
    }
    write(element.firstElementChild, standing);
    write(element.lastElementChild, name);
  }

  _badge(element, node) {
    write(element, node.text ?? "");
  }

  _row(element, node) {
    this.#fill(element, node.parts ?? []);
  }

  _column(element, node) {
    this.#fill(element, node.parts ?? []);
  }

  _list(element, node) {
    if (!node.scrolling) return this.#fill(element, this.#rows(node));
    // New rows scroll the list only if the reader is at its end.
    if (!element.hasAttribute("role")) {
      element.isAtEnd = true;
      // Only the reader leaves the end. The list may scroll to keep a row in use in its place.
      let isOwn = false;
      const scroll = (change) => {
        const before = element.scrollTop;
        change();
        isOwn = element.scrollTop !== before;
      };
      element.addEventListener("scroll", () => {
        if (!isOwn) element.isAtEnd = element.scrollHeight - element.scrollTop - element.clientHeight < 24;
        isOwn = false;
      });
      // The height is that of the window minus the space above. A row in use keeps its place on the
      // screen when the outcome of an act takes space above the list.
      let height = 0;
      new ResizeObserver(() => {
        if (follows(element)) element.scrollTop = element.scrollHeight;
        else if (isInUse(element)) scroll(() => { element.scrollTop += height - element.clientHeight; });
        height = element.clientHeight;
      }).observe(element);
      element.setAttribute("role", "log");
      element.setAttribute("aria-live", "off");
      element.tabIndex = 0;
      element.classList.add("scrolling");
      const offer = (row) => {
        if (row?.acts && !row.lastElementChild.firstElementChild) this.#offer(row);
      };
      element.addEventListener("pointerover", ({ target }) => offer(target.closest(".scrolling > *")));
      const choose = (row) => {
        delete chosenRow(element)?.dataset.chosen;
        if (!row) return;
        row.dataset.chosen = "true";
        offer(row);
        scroll(() => row.scrollIntoView({ block: "nearest" }));
      };
      // A finger cannot hover, and a mouse does not reach a row of a busy chat in time, so a click
      // chooses a row. A second click releases it.
      element.addEventListener("click", ({ target }) => {
        const row = target.closest(".scrolling > .acting");
        if (!row || target.closest(".acts") || !getSelection().isCollapsed) return;
        choose(row === chosenRow(element) ? null : row);
      });
      element.addEventListener("keydown", (event) => walk(element, event, choose));
      element.addEventListener("focusout", ({ relatedTarget }) => {
        if (relatedTarget && !element.contains(relatedTarget)) choose(null);
      });
    }
    if (follows(element) || element.dataset.sequence !== node.scrolling) {
      element.dataset.sequence = node.scrolling;
      this.#fill(element, this.#rows(node));
      element.scrollTop = element.scrollHeight;
    } else {
      this.#append(element, this.#rows(node));
    }
  }

  /** Adds new rows at the end and keeps the reader's position. */
  #append(element, nodes) {
    const known = new Map([...element.children].map((child) => [child.dataset.id, child]));
    for (const node of nodes) {
      const old = known.get(node.id);
      const next = this.#update(old ?? null, node);
      next.dataset.id = node.id;
      if (old && old !== next) old.replaceWith(next);
      else if (!old) element.append(next);
    }
    while (element.children.length > 400) element.firstElementChild.remove();
  }

  _gauge(element, node) {
    const act = this.#acts(node).find((each) => each.input === "level");
    const kind = act ? "INPUT" : "METER";
    if (element.children[1]?.tagName !== kind) {
      const level = document.createElement(kind);
      if (act) {
        Object.assign(level, { type: "range", min: 0, max: 1, step: 0.01 });
        // One request per drag, at its end.
        level.addEventListener("input", () => { level.isDragged = true; });
        level.addEventListener("change", async () => {
          await this.options.onAct(level.act, level.valueAsNumber);
          level.isDragged = false;
        });
      }
      element.replaceChildren(document.createElement("span"), level, document.createElement("output"));
    }
    const [label, level, detail] = element.children;
    level.act = act;
    write(label, node.text ?? "");
    label.hidden = !node.text;
    if (!level.isDragged) level.value = node.value ?? 0;
    level.setAttribute("aria-label", node.text || (node.detail ?? ""));
    write(detail, node.detail ?? "");
  }

  _sparkline(element, node) {
    // A single sample is drawn as a level line.
    const samples = node.samples?.length === 1 ? [node.samples[0], node.samples[0]] : node.samples ?? [];
    const [width, height] = [100, 24];
    if (!element.firstElementChild) {
      const svg = document.createElementNS(svgNamespace, "svg");
      svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
      svg.setAttribute("preserveAspectRatio", "none");
      svg.append(document.createElementNS(svgNamespace, "path"), document.createElementNS(svgNamespace, "path"));
      svg.children[0].setAttribute("class", "area");
      svg.children[1].setAttribute("class", "line");
      element.setAttribute("role", "img");
      element.append(svg);
    }
    const { low, range } = scale(samples);
    const x = (index) => (index / (samples.length - 1)) * width;
    const y = (value) => height - 1 - ((value - low) / range) * (height - 2);
    const line = samples.map((value, index) => `${x(index).toFixed(1)},${y(value).toFixed(1)}`).join("L");
    const [area, stroke] = element.firstElementChild.children;
    stroke.setAttribute("d", line ? `M${line}` : "");
    area.setAttribute("d", line ? `M${line}L${width},${height}L0,${height}Z` : "");
    element.setAttribute("aria-label", `from ${format(samples[0])} to ${format(samples.at(-1))}`);
  }

  /** Draws the histories in a table below it, as charts with scales. */
  #charts(table, { parts = [] }) {
    const rows = parts.map(({ parts: cells = [] }) => {
      const at = cells.findIndex(({ kind, samples }) => kind === "sparkline" && samples?.length > 1);
      return at < 0 ? null : { text: cells.slice(0, at).map((cell) => cell.text ?? "").join(" "), history: cells[at] };
    }).filter(Boolean);
    if (!rows.length) return table.deleteTFoot();
    const foot = table.tFoot ?? table.createTFoot();
    const cell = foot.rows[0]?.cells[0] ?? foot.insertRow().insertCell();
    cell.colSpan = Math.max(1, table.tHead.rows[0].cells.length);
    while (cell.children.length > rows.length) cell.lastElementChild.remove();
    rows.forEach(({ text, history }, index) => {
      const figure = cell.children[index] ?? cell.appendChild(chart());
      const [caption, plot, high, low, since] = ["figcaption", ".plot", ".high", ".low", ".since"].map((part) => figure.querySelector(part));
      write(caption, text);
      this._sparkline(plot, history);
      const { samples } = history;
      write(high, format(Math.max(...samples)));
      write(low, format(Math.min(...samples)));
      const seconds = samples.length * secondsPerSample;
      write(since, seconds < 120 ? `${seconds} s ago` : `${Math.round(seconds / 60)} min ago`);
      plot.setAttribute("aria-label", `${text} over time, from ${low.textContent} to ${high.textContent}`);
    });
  }

  _table(element, node) {
    const columns = node.columns ?? [];
    if (!element.tHead) {
      element.createTHead().insertRow();
      element.createTBody();
    }
    const head = element.tHead.rows[0];
    while (head.cells.length > columns.length) head.lastElementChild.remove();
    columns.forEach((column, index) => {
      // An empty heading would be announced by screen readers.
      const kind = column.title ? "TH" : "TD";
      if (head.cells[index]?.tagName !== kind) {
        const cell = document.createElement(kind);
        if (head.cells[index]) head.cells[index].replaceWith(cell);
        else head.append(cell);
      }
      write(head.cells[index], column.title);
      set(head.cells[index], "alignment", column.alignment);
      set(head.cells[index], "optional", column.optional ? "true" : undefined);
    });
    element.tHead.hidden = columns.every((column) => !column.title);
    const body = element.tBodies[0];
    const rows = node.parts ?? [];
    while (body.rows.length < rows.length) body.insertRow();
    while (body.rows.length > rows.length) body.lastElementChild.remove();
    rows.forEach((row, index) => {
      const cells = row.parts ?? [];
      const line = body.rows[index];
      while (line.cells.length < cells.length) line.insertCell();
      while (line.cells.length > cells.length) line.lastElementChild.remove();
      cells.forEach((cell, column) => {
        const target = line.cells[column];
        set(target, "alignment", columns[column]?.alignment);
        set(target, "optional", columns[column]?.optional ? "true" : undefined);
        const next = this.#update(target.firstElementChild, cell);
        if (next !== target.firstElementChild) target.replaceChildren(next);
      });
    });
    if (this.options.charts) this.#charts(element, node);
  }

  _panel(element, node) {
    if (!element.firstElementChild) {
      const id = `panel-${node.panel?.name ?? ""}`;
      const heading = document.createElement("h2");
      heading.id = id;
      element.setAttribute("aria-labelledby", id);
      element.append(heading, document.createElement("div"));
    }
    const [heading, body] = element.children;
    write(heading, node.text ?? "");
    set(element, "panel", node.panel?.name);
    element.style.order = node.panel?.priority ?? 0;
    const shown = this.options.panels;
    element.hidden = shown !== undefined && !shown.includes(node.panel?.name);
    this.#fill(body, node.parts ?? []);
  }
}

/** Returns the identity of a node among its siblings; undefined if its place is its identity. */
function identity({ id, kind, panel, scrolling }) {
  if (id !== undefined) return id;
  if (kind === "panel") return `panel ${panel?.name}`;
  return scrolling === undefined ? undefined : "scrolling";
}

const svgNamespace = "http://www.w3.org/2000/svg";

/** The HTML element for a kind of node, if it is not div. */
const elements = {
  text: () => "span",
  badge: () => "span",
  table: () => "table",
  panel: () => "section",
};

/** The seconds between two samples of a room's histories. */
const secondsPerSample = 5;

/**
 * The range is at least a tenth of the largest sample, so that samples which hardly differ look
 * level.
 */
function scale(samples) {
  const [least, most] = [Math.min(...samples), Math.max(...samples)];
  const range = Math.max(most - least, Math.abs(most) / 10, 1e-9);
  return { low: (most + least - range) / 2, range };
}

/** Draws a chart with its highest and lowest values at the side and the time below. */
function chart() {
  const make = (name, style, ...parts) => {
    const element = document.createElement(name);
    if (style) element.className = style;
    element.append(...parts);
    return element;
  };
  return make("figure", "chart", make("figcaption"), make("div", "plot"), make("span", "high"), make("span", "low"),
    make("span", "since"), make("span", "now", "now"));
}

/** Returns a hue that is always the same for the same person. */
function hue(name) {
  let hash = 2166136261;
  for (const byte of new TextEncoder().encode(name)) hash = Math.imul(hash ^ byte, 16777619) >>> 0;
  return (hash % 24) * 15;
}

/**
 * Returns a chosen colour with readable lightness: one for a light background, and one for a dark
 * background.
 * @param {string} color as in #1e90ff
 */
export function readable(color) {
  const parts = [1, 3, 5].map((at) => (parseInt(color.slice(at, at + 2), 16) / 255) ** 2.2);
  const luminance = 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  const made = (change) => `rgb(${parts.map((part) => Math.round(change(part) ** (1 / 2.2) * 255)).join(" ")})`;
  // These luminances have a contrast of 5 to white and to the surface of the dark theme.
  const [most, least] = [0.14, 0.28];
  const share = (least - luminance) / (1 - luminance);
  return [made((part) => part * Math.min(1, most / luminance)), made((part) => (share > 0 ? part + (1 - part) * share : part))];
}

// Strangers write texts, so nothing in them is markup. Characters that are invisible or change the
// direction of writing could make a text look like another one, so they are replaced by a visible
// mark. Joiners, which combine emoji, stay. Chat clients append U+E0000 so that platforms accept a
// repeated message.
const hidden = /(?![\u200D\u{E0020}-\u{E007F}])[\p{Cc}\p{Cf}\p{Cn}\p{Cs}\p{Zl}\p{Zp}]/gu;

export function write(element, given) {
  const text = harmless(given);
  if (element.textContent !== text) element.textContent = text;
}

const harmless = (text) => text.replaceAll("\u{E0000}", "").replace(hidden, "\uFFFD");

/**
 * Moves between the rows of a long list and between the buttons of a row with the arrow keys,
 * because Tab skips its buttons. Escape leaves the row.
 */
function walk(list, event, choose) {
  const row = [...list.children].find((each) => each.contains(document.activeElement));
  let next;
  if (event.key === "ArrowUp" || event.key === "ArrowDown") {
    const chosen = event.key === "ArrowUp" ? row?.previousElementSibling : row?.nextElementSibling;
    const target = row ? chosen : list.lastElementChild;
    if (target?.acts) choose(target);
    next = target?.querySelector(".acts button");
  } else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
    const buttons = [...(row?.querySelectorAll(".acts button") ?? [])];
    next = buttons[buttons.indexOf(document.activeElement) + (event.key === "ArrowLeft" ? -1 : 1)];
  } else if (event.key === "Escape" && row) {
    choose(null);
    next = list;
  }
  if (!next) return;
  event.preventDefault();
  next.focus();
}

const chosenRow = (list) => list.querySelector(":scope > [data-chosen]");
const isInUse = (list) => list.querySelector(":scope > [data-chosen], .acts:hover, .question") !== null;

/**
 * Whether a long list scrolls to new rows. A row in use does not move, so that nobody presses the
 * buttons of another row.
 */
const follows = (list) => list.isAtEnd && !isInUse(list);

function set(element, name, value) {
  if (value === undefined || value === "normal") delete element.dataset[name];
  else if (element.dataset[name] !== value) element.dataset[name] = value;
}

export const number = (value) => value.toLocaleString("en", { maximumFractionDigits: 1 });

export const count = (value, thing) => `${number(value)} ${thing}${value === 1 ? "" : "s"}`;

function format(value) {
  return value === undefined ? "nothing" : number(value);
}
