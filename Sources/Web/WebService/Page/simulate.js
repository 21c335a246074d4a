import { ScreenView, number, write } from "./nodes.js";
import { badge, column, draw, panel, row, save, sparkline, table, text } from "./tree.js";

/** The figures of a run with their names, and whether a lower value is better. */
const metrics = [
  ["hangs", (run) => run.hangs, true],
  ["microhangs", (run) => run.microhangs, true],
  ["longest turn, ms", (run) => run.longestMs, true],
  ["hitches, ms/s", (run) => run.hitchMsPerSecond, true],
  ["thread busy, %", (run) => run.busyPercent, true],
  ["latency p50, ms", (run) => run.latencyMs?.p50, true],
  ["latency p95, ms", (run) => run.latencyMs?.p95, true],
  ["latency p99, ms", (run) => run.latencyMs?.p99, true],
  ["actions", (run) => run.actions],
  ["frames", (run) => run.frames],
];

/** Runs scenarios, and compares their reports while the page is open. */
export class Simulations {
  #scenarios = null;
  #results = [];
  #abort = null;

  constructor(root, page) {
    this.page = page;
    this.form = root.querySelector("form");
    this.progress = root.querySelector("progress");
    this.reports = root.querySelector("#reports");
    this.report = root.querySelector("#report");
    this.other = root.querySelector("#other");
    this.downloads = root.querySelector("#downloads");
    this.view = new ScreenView(root.querySelector(".content"));
    const { scenario, cancel } = this.form.elements;
    scenario.addEventListener("change", () => this.#offer());
    cancel.addEventListener("click", () => this.#abort?.abort());
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#run();
    });
    for (const select of [this.report, this.other]) select.addEventListener("change", () => this.#show());
  }

  close() {}

  async open() {
    if (this.#scenarios) return;
    try {
      ({ scenarios: this.#scenarios } = await this.page.get("/api/scenarios"));
      this.form.elements.scenario.replaceChildren(...this.#scenarios.map(({ name }) => new Option(name, name)));
      if (!this.#scenarios.length) this.page.tell("There are no scenarios; give their directory with livehost-web --scenarios.");
      this.#offer();
    } catch (error) {
      this.page.tell(error.message);
    }
  }

  /** Shows the devices and variants of the selected scenario. */
  #offer() {
    const scenario = this.#scenarios.find(({ name }) => name === this.form.elements.scenario.value);
    if (!scenario) return;
    const all = [...scenario.devices, ...scenario.profiles.filter((name) => !scenario.devices.includes(name))];
    choices(this.form.querySelector("#devices"), "device", all, scenario.devices);
    choices(this.form.querySelector("#variants"), "variant", scenario.variants, scenario.variants);
    this.form.elements.seed.placeholder = scenario.seed;
  }

  async #run() {
    const { scenario, seed, settings, trace, run, cancel } = this.form.elements;
    const picked = (name) => [...this.form.querySelectorAll(`input[name=${name}]:checked`)].map((box) => box.value);
    this.#abort = new AbortController();
    [run.disabled, cancel.hidden, this.progress.hidden, this.progress.value] = [true, false, false, 0];
    try {
      const result = { trace: "" };
      const request = {
        scenario: scenario.value, devices: picked("device"), variants: picked("variant"), wantsTrace: trace.checked,
        settings: settings.value.split(/\s+/).filter(Boolean), ...(seed.value ? { seed: Number(seed.value) } : {}),
      };
      for await (const reply of this.page.stream("/api/simulate", request, this.#abort.signal)) {
        this.progress.value = reply.percent;
        result.trace += reply.trace ?? "";
        Object.assign(result, { report: reply.report, missed: reply.missed, page: reply.page });
      }
      if (result.report) this.#add(result);
    } catch (error) {
      if (!this.#abort.signal.aborted) this.page.tell(error.message);
    } finally {
      [run.disabled, cancel.hidden, this.progress.hidden] = [false, true, true];
    }
  }

  #add(result) {
    this.#results.push(result);
    const { scenario, seed, digest } = result.report;
    const name = `${this.#results.length}: ${scenario}, seed ${seed}, ${digest.slice(0, 8)}`;
    if (this.#results.length === 1) this.other.add(new Option("nothing", ""));
    for (const select of [this.report, this.other]) select.add(new Option(name, this.#results.length - 1));
    this.report.value = this.#results.length - 1;
    this.reports.hidden = false;
    this.#show();
  }

  #show() {
    const result = this.#results[this.report.value];
    const other = this.other.value === "" ? null : this.#results[this.other.value];
    draw(this.view, tree(result, other));
    const { report, page, trace } = result;
    const name = `${report.scenario}-${report.digest.slice(0, 8)}`;
    const files = [["report", `${name}.json`, "application/json", JSON.stringify(report)], ["page", `${name}.html`, "text/html", page],
      ["trace", `${name}.trace.json`, "application/json", trace]];
    this.downloads.replaceChildren(...files.filter(([, , , content]) => content).map(([label, file, type, content]) => {
      const button = document.createElement("button");
      button.type = "button";
      write(button, `Save ${label}`);
      button.addEventListener("click", () => save(file, type, content));
      return button;
    }));
  }
}

function choices(root, name, values, chosen) {
  root.replaceChildren(...values.map((value) => {
    const [label, box] = [document.createElement("label"), document.createElement("input")];
    Object.assign(box, { type: "checkbox", name, value, checked: chosen.includes(value) });
    label.append(box, ` ${value}`);
    return label;
  }));
}

/** Returns the tree of a report: the verdict, then each device. */
function tree({ report, missed }, other) {
  const verdict = missed?.length
    ? column(badge("THRESHOLDS NOT MET", "bad"), ...missed.map((line) => text(line, "bad")))
    : report.thresholds?.some((threshold) => threshold.skipped)
      ? column(badge("THRESHOLDS SKIPPED", "warning"), ...report.thresholds.filter((one) => one.skipped).map((one) => text(`${one.text}: skipped, ${one.skipped}`, "faint")))
    : report.thresholds?.length ? badge("ALL THRESHOLDS MET", "good") : text("The scenario has no thresholds.", "faint");
  const devices = [...new Set(report.runs.map((run) => run.device))];
  return column(row(verdict), ...devices.map((device) => devicePanel(device, report, other?.report)));
}

function devicePanel(device, report, other) {
  const here = report.runs.filter((run) => run.device === device);
  const there = (other?.runs ?? []).filter((run) => run.device === device);
  const runs = [...there.map((run) => ({ run, name: `${run.variant}, other` })), ...here.map((run) => ({ run, name: run.variant }))];
  // The last run is compared with the first one.
  const hasChange = runs.length > 1;
  const lines = metrics.map(([name, value, isCost]) => {
    const values = runs.map(({ run }) => value(run));
    const cells = values.map((one) => text(one === undefined ? "–" : number(one)));
    return [text(name, "faint"), ...cells, ...(hasChange ? [change(values[0], values.at(-1), isCost)] : [])];
  });
  const turns = here.flatMap((run) => (run.longestTurns ?? []).slice(0, 3).map((turn) => [
    text(run.variant, "faint"), badge(turn.class.toUpperCase(), emphasis[turn.class]), text(`${number(turn.durationMs)} ms`, "strong"),
    text(`at ${number(turn.atMs / 1000)} s`, "faint"), text(turn.action ?? "–"), text(turn.view ?? "–"),
  ]));
  const timelines = here.filter((run) => run.timeline).map((run) => row(text(run.variant, "faint"), sparkline(run.timeline.longestMs)));
  return panel(device, device,
    table(["", ...runs.map(({ name }) => `${name}>`), ...(hasChange ? ["change>"] : [])], lines),
    text("longest turn over time", "faint"), ...timelines,
    text("longest turns", "faint"), table(["variant", "class", "length>", "when>", "action", "view"], turns));
}

const emphasis = { hang: "bad", microhang: "warning", late: "warning" };

function change(before, after, isCost) {
  if (!before || after === undefined || before === after) return text("");
  const percent = (after / before - 1) * 100;
  return text(`${percent > 0 ? "+" : "−"}${number(Math.abs(percent))} %`, isCost ? (percent < 0 ? "good" : "bad") : undefined);
}
