// The pane of logs: lines with their levels, and the minimum level shown of each logger.

import { everyMessage } from "../connection/channels";
import type { Connection } from "../connection/connection";
import { errorText } from "../decode/codec";
import { breakable, button, h, select, setText } from "../shell/dom";
import { type Layout, numberOf, textOf } from "../shell/layout";
import { lines } from "../shell/shown";
import { timeOfDay } from "../shell/units";
import { whileVisible } from "../shell/visibility";
import { levelName, LEVELS, type Line, type Logger, Store } from "./store";

/** The heights of a row, as in the styles; a narrow row has its text below, in two lines. */
const ROW_PX = 20;
const NARROW_ROW_PX = 58;
const NARROW = "(max-width: 700px)";
const SPARE_ROWS = 10;
const LEVEL_CHOICES = LEVELS.map(([level, name]) => [String(level), name] as const);
const MINIMUMS = LEVEL_CHOICES.map(([level, name]) => [level, `${name} and above`] as const);

function now(): string {
  return timeOfDay(BigInt(Date.now()) * 1_000_000n);
}

export class LogsPane {
  readonly element: HTMLElement;
  readonly filter: HTMLInputElement;
  private readonly store = new Store();
  private readonly rows = h("div", { class: "rows" });
  private readonly list: HTMLElement;
  private readonly hint = h("p", { class: "hint" });
  private readonly whole = h("pre", { class: "whole", hidden: true });
  private readonly side = h("ul", { class: "loggers" });
  private readonly note = h("span", { class: "dim" });
  private readonly least: HTMLSelectElement;
  private readonly narrow = matchMedia(NARROW);
  private isFollowing = true;
  private isWaiting = false;
  private hiddenSince: string | null = null;
  private loggerKey = "";

  constructor(
    private readonly connection: Connection,
    private readonly layout: Layout,
  ) {
    this.filter = h("input", {
      type: "search",
      placeholder: "Filter text",
      "aria-label": "Filter logs",
      class: "filter",
      oninput: () => {
        this.store.words = this.filter.value;
        this.refilter();
      },
    });
    this.least = select("Minimum level", MINIMUMS, "20", (value) => {
      this.store.least = Number(value);
      this.refilter();
    });
    this.list = h(
      "div",
      {
        class: "log",
        tabindex: "0",
        role: "log",
        "aria-label": "Log lines",
        "aria-live": "off",
        onscroll: () => {
          const { scrollTop, scrollHeight, clientHeight } = this.list;
          this.isFollowing = scrollTop + clientHeight > scrollHeight - this.rowPx * 2;
          this.draw();
        },
      },
      this.rows,
    );
    const clear = button("Clear", () => {
      this.store.clear();
      this.draw();
    });
    const end = button("Scroll to end", () => {
      this.isFollowing = true;
      this.draw();
    });
    const loggers = h(
      "details",
      { class: "fold", open: window.innerWidth > 700 },
      h("summary", {}, "Loggers"),
      h("aside", { class: "side", "aria-label": "Loggers" }, this.side),
    );
    this.element = h(
      "div",
      { class: "logs" },
      loggers,
      h(
        "div",
        { class: "main" },
        h("div", { class: "row bar" }, this.filter, this.least, end, clear, this.note),
        this.hint,
        this.list,
        this.whole,
      ),
    );
    this.restore();
    layout.replaced.listen(() => this.restore());
    new ResizeObserver(() => this.draw()).observe(this.list);
    connection.services.changed.listen(() => this.drawLoggers());
    connection.channels.changed.listen(() => this.draw());
    whileVisible(this.element, () => this.start());
  }

  private start(): () => void {
    if (this.hiddenSince !== null) {
      const until = now();
      this.store.remark(`– no lines from ${this.hiddenSince} to ${until}: the pane was hidden –`);
    }
    const end = this.connection.channels.watch("/rosout", everyMessage, (message) => {
      try {
        this.store.take(message);
      } catch (error) {
        this.store.remark(`A line cannot be read: ${errorText(error)}`);
      }
      if (this.isWaiting) return;
      this.isWaiting = true;
      requestAnimationFrame(() => {
        this.isWaiting = false;
        this.draw();
      });
    });
    this.draw();
    return () => {
      end();
      this.hiddenSince = now();
    };
  }

  private restore(): void {
    const part = this.layout.part("logs");
    this.store.least = numberOf(part.l, 20);
    this.store.words = textOf(part.q, "");
    this.least.value = String(this.store.least);
    this.filter.value = this.store.words;
    const levels = part.g;
    if (levels !== null && typeof levels === "object" && !Array.isArray(levels)) {
      for (const [name, level] of Object.entries(levels)) {
        const logger = this.store.logger(name);
        if (logger !== undefined) logger.least = numberOf(level, 0);
      }
    }
    this.store.refilter();
    this.draw();
  }

  private refilter(): void {
    this.store.refilter();
    const own = [...this.store.loggers.values()].filter(({ least }) => least > 0).slice(0, 50);
    this.layout.set("logs", {
      ...(this.store.least === 20 ? {} : { l: this.store.least }),
      ...(this.store.words === "" ? {} : { q: this.store.words }),
      ...(own.length === 0 ? {} : { g: Object.fromEntries(own.map((e) => [e.name, e.least])) }),
    });
    this.draw();
  }

  private get rowPx(): number {
    return this.narrow.matches ? NARROW_ROW_PX : ROW_PX;
  }

  /** Draws the visible rows; the other rows have no elements. */
  private draw(): void {
    const { shown } = this.store;
    const { rowPx } = this;
    this.rows.style.height = `${shown.length * rowPx}px`;
    if (this.isFollowing) this.list.scrollTop = this.list.scrollHeight;
    const first = Math.max(0, Math.floor(this.list.scrollTop / rowPx) - SPARE_ROWS);
    const count = Math.ceil(this.list.clientHeight / rowPx) + 2 * SPARE_ROWS;
    const visible = shown.slice(first, first + count);
    this.rows.replaceChildren(
      ...visible.map((line, at) => {
        const row = this.row(line);
        row.style.top = `${(first + at) * rowPx}px`;
        return row;
      }),
    );
    setText(this.note, `${shown.length} of the last ${this.store.count} lines`);
    this.hint.hidden = shown.length > 0;
    if (shown.length === 0) setText(this.hint, this.whyEmpty());
    this.drawLoggers();
  }

  private whyEmpty(): string {
    const { count, least, words } = this.store;
    if (count > 0) {
      const filter = words === "" ? "" : `, or does not contain “${words}”`;
      return (
        `The filters hide all of the last ${count} lines: each is below ${levelName(least)} or ` +
        `below the minimum level of its logger${filter}.`
      );
    }
    return this.connection.channels.byTopic.has("/rosout")
      ? "No node has logged anything since this pane was opened, and no node keeps older lines."
      : "No node publishes its log: there is no topic /rosout.";
  }

  private row(line: Line): HTMLElement {
    if (line.level === null) {
      const words = lines(line.text);
      return h("div", { class: "line remark", title: words }, h("span", { class: "words" }, words));
    }
    const level = levelName(line.level);
    const further = line.text.trimEnd().split("\n").length - 1;
    return h(
      "div",
      {
        class: `line ${level.toLowerCase()}`,
        title: lines(line.text),
        onclick: () => this.showWhole(line),
      },
      h("time", {}, timeOfDay(line.timeNanos)),
      h("b", { class: "level" }, level),
      h("span", { class: "logger" }, line.logger),
      h("span", { class: "text" }, lines(line.text)),
      further > 0 && h("span", { class: "more" }, further === 1 ? "+1 line" : `+${further} lines`),
    );
  }

  private showWhole(line: Line): void {
    this.whole.hidden = false;
    const place = line.place === "" ? "" : `\n${line.place}`;
    this.whole.replaceChildren(
      h("bdi", {}, line.logger),
      ": ",
      h("bdi", {}, lines(line.text + place)),
    );
  }

  private drawLoggers(): void {
    const loggers = [...this.store.loggers.values()].sort((a, b) => a.name.localeCompare(b.name));
    const key = loggers.map(({ name }) => `${name} ${this.levelService(name) ?? ""}`).join("\n");
    if (key !== this.loggerKey) {
      this.loggerKey = key;
      this.side.replaceChildren(...loggers.map((logger) => this.loggerRow(logger)));
    }
    loggers.forEach((logger, at) => {
      const counts = this.side.children[at]?.querySelector(".counts");
      const words = LEVELS.flatMap(([, name], level) =>
        logger.counts[level]! > 0 ? [`${logger.counts[level]} ${name.toLowerCase()}`] : [],
      );
      if (counts) setText(counts, words.reverse().join(", "));
    });
  }

  private loggerRow(logger: Logger): HTMLElement {
    const choices = [["0", "default level"] as const, ...MINIMUMS];
    const shown = select(
      `Minimum level of ${logger.name}`,
      choices,
      String(logger.least),
      (value) => {
        logger.least = Number(value);
        this.refilter();
      },
    );
    const service = this.levelService(logger.name);
    const level =
      service !== null &&
      select(
        `Set the level of ${logger.name} in its node`,
        [
          ["", "set level …"],
          ...LEVEL_CHOICES.map(([each, name]) => [each, `set level ${name}`] as const),
        ],
        "",
        (value) => {
          if (value !== "") void this.setLevel(service, logger.name, Number(value));
        },
      );
    return h(
      "li",
      {},
      h("span", { class: "name" }, breakable(logger.name)),
      h("span", { class: "counts dim" }),
      h("span", { class: "row" }, shown, level),
    );
  }

  /** The service that sets a logger's level: that of `/robot/arm` for `robot.arm.driver`. */
  private levelService(logger: string): string | null {
    const parts = logger.split(".");
    for (let length = parts.length; length > 0; length--) {
      const name = `/${parts.slice(0, length).join("/")}/set_logger_levels`;
      if (this.connection.services.has(name)) return name;
    }
    return null;
  }

  private async setLevel(service: string, name: string, level: number): Promise<void> {
    try {
      const { results } = await this.connection.services.call(service, {
        levels: [{ name, level }],
      });
      const [result] = results as { successful: boolean; reason: string }[];
      if (result?.successful !== true) throw new Error(result?.reason ?? "the node gave no reason");
      this.store.remark(`– the level of ${name} is now ${levelName(level)} –`);
    } catch (error) {
      this.store.remark(`– the level of ${name} was not set: ${errorText(error)} –`);
    }
    this.draw();
  }
}
