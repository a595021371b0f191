// A plot of numbers over time. Lines differ in dash and colour; the legend shows the value of each
// line at the cursor, or its latest value.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { Message } from "../connection/channels";
import { asNumber, numericFields, parsePath, valueAt, type FieldPath } from "../decode/fields";
import { breakable, button, h, select, setText, svg } from "../shell/dom";
import { hasUnseen } from "../shell/shown";
import { numberOf, type Part, textsOf } from "../shell/layout";
import { plain } from "../shell/units";
import { whileVisible } from "../shell/visibility";
import { type Panel, type PanelContext, rateFor } from "./panel";
import { Series } from "./series";

const MOST_LINES = 12;
const COLOURS = 8;
const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3], [14, 4], [4, 2], [1, 5], [12, 3, 2, 3, 2, 3]];
const FRAME_MS = 66;
const WINDOWS = [5, 10, 30, 60, 300] as const;
const REFUSAL =
  "Enter a field such as /odom.pose.pose.position.x. A plot shows each field only once, and at " +
  `most ${MOST_LINES} fields.`;
let listNumber = 0;

interface Line {
  path: string;
  field: FieldPath;
  series: Series;
  value: HTMLElement;
  row: HTMLElement;
}

export class PlotPanel implements Panel {
  readonly kind = "plot";
  readonly element: HTMLElement;
  private readonly lines: Line[] = [];
  private windowSeconds: number;
  private isPaused = false;
  private isDirty = true;
  private lastDraw = 0;
  private frame = 0;
  private chart: uPlot | null = null;
  private readonly box = h("div", { class: "chart", role: "img", "aria-label": "Plot" });
  private readonly legend = h("ul", { class: "legend" });
  private readonly ends: (() => void)[] = [];
  private watches: (() => void)[] = [];
  private isVisible = false;

  constructor(
    private readonly context: PanelContext,
    state: Part,
  ) {
    this.windowSeconds = Math.min(Math.max(numberOf(state.w, 10), 1), 3600);
    this.element = h("div", { class: "plot" }, this.controls(), this.box, this.legend);
    for (const path of textsOf(state.s).slice(0, MOST_LINES)) this.addLine(path);
    this.build();
    const resize = new ResizeObserver(() => this.resize());
    resize.observe(this.box);
    const themes = matchMedia("(prefers-color-scheme: dark)");
    const rebuild = (): void => this.build();
    themes.addEventListener("change", rebuild);
    window.addEventListener("themechange", rebuild);
    this.ends.push(
      () => resize.disconnect(),
      () => themes.removeEventListener("change", rebuild),
      () => window.removeEventListener("themechange", rebuild),
      whileVisible(this.element, () => this.start()),
    );
  }

  title(): string {
    return "Plot";
  }

  state(): Part {
    return { s: this.lines.map((line) => line.path), w: this.windowSeconds };
  }

  dispose(): void {
    this.ends.forEach((end) => end());
    this.chart?.destroy();
  }

  /** Adds a line; returns `false` if the path is invalid or in use, or the plot is full. */
  add(path: string): boolean {
    const isAdded = this.addLine(path);
    if (isAdded) {
      this.build();
      this.watch();
      this.context.changed();
    }
    return isAdded;
  }

  private controls(): HTMLElement {
    const list = h("datalist", { id: `fields-${listNumber++}` });
    const input = h("input", {
      type: "text",
      list: list.id,
      placeholder: "/topic.field",
      "aria-label": "Field to plot",
      spellcheck: "false",
      onfocus: () => list.replaceChildren(...this.suggestions()),
    });
    const form = h(
      "form",
      {
        class: "row",
        onsubmit: (event: Event) => {
          event.preventDefault();
          const isAdded = this.add(input.value.trim());
          input.setCustomValidity(isAdded ? "" : REFUSAL);
          if (isAdded) input.value = "";
          else input.reportValidity();
        },
        oninput: () => input.setCustomValidity(""),
      },
      input,
      list,
      h("button", { type: "submit" }, "Add"),
    );
    const windows = WINDOWS.map((each) => [String(each), `${each} s`] as const);
    const window = select("Time range", windows, String(this.windowSeconds), (value) => {
      this.windowSeconds = Number(value);
      this.isDirty = true;
      this.context.changed();
    });
    const pause = button("Pause", () => {
      this.isPaused = !this.isPaused;
      setText(pause, this.isPaused ? "Resume" : "Pause");
    });
    return h("div", { class: "row controls" }, form, window, pause);
  }

  private suggestions(): HTMLOptionElement[] {
    const options: HTMLOptionElement[] = [];
    for (const channel of this.context.connection.channels.byTopic.values()) {
      try {
        for (const field of numericFields(channel.codec.definitions, 30)) {
          const path = channel.topic + field;
          if (!hasUnseen(path)) options.push(h("option", { value: path }));
        }
      } catch {
        // A schema that cannot be read has no fields to suggest; the tree shows the reason.
      }
      if (options.length > 500) break;
    }
    return options;
  }

  private addLine(path: string): boolean {
    const field = parsePath(path);
    const isKnown = this.lines.some((line) => line.path === path);
    if (field === null || isKnown || this.lines.length >= MOST_LINES) return false;
    const value = h("output", { class: "value" }, "–");
    const row = h("li");
    const line: Line = { path, field, series: new Series(), value, row };
    const remove = button("×", () => this.remove(line), { label: `Remove ${path}`, class: "icon" });
    row.append(
      h("span", { class: "swatch" }),
      h("span", { class: "path" }, breakable(path)),
      value,
      remove,
    );
    this.lines.push(line);
    this.legend.append(row);
    return true;
  }

  private remove(line: Line): void {
    this.lines.splice(this.lines.indexOf(line), 1);
    line.row.remove();
    this.build();
    this.watch();
    this.context.changed();
  }

  private start(): () => void {
    this.isVisible = true;
    this.watch();
    const turn = (now: number): void => {
      this.frame = requestAnimationFrame(turn);
      if (this.isDirty && !this.isPaused && now - this.lastDraw >= FRAME_MS) {
        this.lastDraw = now;
        this.draw();
      }
    };
    this.frame = requestAnimationFrame(turn);
    return () => {
      this.isVisible = false;
      cancelAnimationFrame(this.frame);
      this.watches.forEach((end) => end());
      this.watches = [];
    };
  }

  private watch(): void {
    const old = this.watches;
    this.watches = [];
    if (this.isVisible) {
      const { channels } = this.context.connection;
      for (const topic of new Set(this.lines.map((line) => line.field.topic))) {
        const lines = this.lines.filter((line) => line.field.topic === topic);
        this.watches.push(channels.watch(topic, rateFor, (message) => this.take(message, lines)));
      }
    }
    // The old watches end last, so that a topic that stays keeps its subscription.
    old.forEach((end) => end());
  }

  private take(message: Message, lines: Line[]): void {
    try {
      const time = Number(message.timeNanos) / 1e9;
      for (const line of lines) {
        const number = asNumber(valueAt(message.value, line.field.steps));
        if (number === null) setText(line.value, "not a number");
        else line.series.push(time, number, this.windowSeconds);
      }
      this.isDirty = true;
    } catch {
      for (const line of lines) setText(line.value, "unreadable");
    }
  }

  private draw(): void {
    this.isDirty = false;
    if (this.chart === null) return;
    const last = this.lines.map((line) => line.series.lastTime ?? 0);
    const now = Math.max(0, ...last);
    const tables = this.lines.map((line) => line.series.columns(now) as uPlot.AlignedData);
    const data = tables.length > 0 ? uPlot.join(tables) : ([[]] as unknown as uPlot.AlignedData);
    this.chart.setData(data, false);
    this.chart.setScale("x", { min: -this.windowSeconds, max: 0 });
    if (this.chart.cursor.idx === null || this.chart.cursor.idx === undefined) {
      for (const line of this.lines) {
        if (line.series.lastValue !== null) setText(line.value, plain(line.series.lastValue));
      }
    }
  }

  private resize(): void {
    const { clientWidth, clientHeight } = this.box;
    if (clientWidth > 40 && clientHeight > 40) {
      this.chart?.setSize({ width: clientWidth, height: clientHeight });
    }
  }

  private build(): void {
    this.chart?.destroy();
    const style = getComputedStyle(document.documentElement);
    const colour = (name: string): string => style.getPropertyValue(name).trim();
    const axis = {
      stroke: colour("--dim"),
      grid: { stroke: colour("--line"), width: 1 },
      ticks: { stroke: colour("--line"), width: 1 },
      font: "11px system-ui, sans-serif",
    };
    const series = this.lines.map((line, at) => {
      const stroke = colour(`--series-${(at % COLOURS) + 1}`);
      const dash = DASHES[at % DASHES.length] ?? [];
      const swatch = svg(
        "svg",
        { width: 28, height: 10, "aria-hidden": "true" },
        svg("line", {
          x1: 0,
          y1: 5,
          x2: 28,
          y2: 5,
          stroke,
          "stroke-width": 2,
          "stroke-dasharray": dash.join(" "),
        }),
      );
      line.row.querySelector(".swatch")?.replaceChildren(swatch);
      return {
        label: line.path,
        stroke,
        dash,
        width: 1.5,
        spanGaps: true,
        points: { show: false },
      };
    });
    this.chart = new uPlot(
      {
        width: Math.max(this.box.clientWidth, 200),
        height: Math.max(this.box.clientHeight, 120),
        legend: { show: false },
        scales: { x: { time: false, auto: false } },
        axes: [
          { ...axis, values: (_, ticks) => ticks.map((tick) => `${tick} s`), size: 30 },
          { ...axis, size: 56 },
        ],
        series: [{}, ...series],
        hooks: { setCursor: [(chart) => this.readCursor(chart)] },
      },
      [[], ...this.lines.map(() => [])] as unknown as uPlot.AlignedData,
      this.box,
    );
    this.isDirty = true;
    this.draw();
  }

  private readCursor(chart: uPlot): void {
    const at = chart.cursor.idx;
    if (at === null || at === undefined) return;
    this.lines.forEach((line, index) => {
      const value = chart.data[index + 1]?.[at];
      if (value !== null && value !== undefined) setText(line.value, plain(value));
    });
  }
}
