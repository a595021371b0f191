// A running player: pause, step, speed, and a slider through its bag.

import type { Connection } from "../connection/connection";
import { button, h, select, setAttribute, setText } from "../shell/dom";
import { timeOfDay } from "../shell/units";
import { whileVisible } from "../shell/visibility";
import { Steering } from "./steering";
import { Timeline } from "./timeline";

const POLL_MS = 2000;
const STEPS = 1000;
const SECOND = 1_000_000_000n;
const RATES = ["0.1", "0.25", "0.5", "1", "2", "5", "10"];

export class Player {
  readonly element: HTMLElement;
  private readonly steering: Steering;
  private readonly timeline: Timeline;
  private readonly toggle: HTMLButtonElement;
  private readonly rate: HTMLSelectElement;
  private readonly slider: HTMLInputElement;
  private readonly position = h("output", { class: "position" });
  private readonly hint = h("p", { class: "dim" });
  private readonly endVisible: () => void;
  private isPaused = false;
  private isSliding = false;

  constructor(
    connection: Connection,
    readonly base: string,
    /** Whether the server lets the page call services that change something. */
    private readonly canSteer: boolean,
  ) {
    this.steering = new Steering(connection, base);
    this.timeline = new Timeline(connection, base);
    this.toggle = button("Pause", () => void this.turn());
    const next = button("Next message", () => void this.steering.call("play_next"));
    const back = button("− 5 s", () => this.jump(-5n), { title: "Back by 5 seconds" });
    const on = button("+ 5 s", () => this.jump(5n), { title: "Forward by 5 seconds" });
    this.rate = select(
      "Speed",
      RATES.map((each) => [each, `× ${each}`] as const),
      "1",
      (value) => {
        void this.steering.call("set_rate", { rate: Number(value) }).then(() => this.poll());
      },
    );
    this.slider = h("input", {
      type: "range",
      min: 0,
      max: STEPS,
      step: 1,
      value: 0,
      "aria-label": `Position of ${base}`,
      oninput: () => {
        this.isSliding = true;
        this.showPosition();
      },
      onchange: () => {
        this.isSliding = false;
        const target = this.sliderTime();
        if (target !== null) void this.seek(target);
      },
    });
    this.element = h(
      "section",
      { class: "player", "data-base": base },
      h("header", {}, h("span", { class: "kind" }, "Player"), h("h2", {}, base)),
      h("div", { class: "row" }, this.toggle, next, back, on, this.rate, this.position),
      this.slider,
      this.hint,
      this.steering.outcome,
    );
    for (const each of [this.toggle, next, back, on, this.rate]) each.disabled = !canSteer;
    this.endVisible = whileVisible(this.element, () => {
      const ends = [
        this.timeline.changed.listen(() => this.showPosition()),
        this.timeline.follow(),
      ];
      const timer = setInterval(() => void this.poll(), POLL_MS);
      void this.poll();
      this.showPosition();
      return () => {
        clearInterval(timer);
        ends.forEach((end) => end());
      };
    });
  }

  dispose(): void {
    this.endVisible();
  }

  async turn(): Promise<void> {
    await this.steering.call(this.isPaused ? "resume" : "pause");
    await this.poll();
  }

  private async poll(): Promise<void> {
    const paused = await this.steering.call("is_paused", {}, true);
    if (paused !== null) {
      this.isPaused = paused.paused === true;
      setText(this.toggle, this.isPaused ? "Play" : "Pause");
      this.element.classList.toggle("paused", this.isPaused);
    }
    const rate = await this.steering.call("get_rate", {}, true);
    if (rate === null || document.activeElement === this.rate) return;
    const text = String(Number(Number(rate.rate).toPrecision(6)));
    if (![...this.rate.options].some(({ value }) => value === text)) {
      this.rate.append(h("option", { value: text }, `× ${text}`));
    }
    this.rate.value = text;
  }

  private jump(seconds: bigint): void {
    const { now } = this.timeline;
    if (now !== null) void this.seek(now + seconds * SECOND);
  }

  private async seek(nanos: bigint): Promise<void> {
    const span = this.timeline.span;
    const least = span?.start ?? 0n;
    const most = span?.isWhole ? span.end : nanos;
    const time = nanos < least ? least : nanos > most ? most : nanos;
    const stamp = { sec: Number(time / SECOND), nanosec: Number(time % SECOND) };
    await this.steering.call("seek", { time: stamp });
  }

  private sliderTime(): bigint | null {
    const span = this.timeline.span;
    if (span === null) return null;
    const part = (span.end - span.start) * BigInt(this.slider.value);
    return span.start + part / BigInt(STEPS);
  }

  private showPosition(): void {
    const { span, now } = this.timeline;
    this.slider.disabled = !this.canSteer || span === null || span.end === span.start;
    const words =
      span === null
        ? "The position is unknown: start the player with --clock."
        : span.isWhole
          ? ""
          : "The slider covers only the part that has been played so far.";
    setText(this.hint, words);
    if (span === null || now === null) return;
    const shown = this.isSliding ? (this.sliderTime() ?? now) : now;
    if (!this.isSliding && span.end > span.start) {
      const part = ((now - span.start) * BigInt(STEPS)) / (span.end - span.start);
      this.slider.value = String(part);
    }
    const seconds = (nanos: bigint): string => (Number(nanos / 1_000_000n) / 1000).toFixed(1);
    const text = `${seconds(shown - span.start)} of ${seconds(span.end - span.start)} s`;
    setText(this.position, `${text} · ${timeOfDay(shown)}`);
    setAttribute(this.slider, "aria-valuetext", text);
  }
}
