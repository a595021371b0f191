// The position of a player within its bag. The player's parameters `bag.start_time_nanos` and
// `bag.end_time_nanos` give the start and the end of the bag. Without these parameters, /clock
// gives the range that has been played so far.

import type { Connection } from "../connection/connection";
import { type End, Signal } from "../signal";

const START = "bag.start_time_nanos";
const END = "bag.end_time_nanos";
/** The error of nanoseconds since 1970 as a number in JSON: half the distance of two doubles. */
const ERROR_NANOS = 128n;

export interface Span {
  start: bigint;
  end: bigint;
  /** Whether this is the whole bag, and not only the range that has been played so far. */
  isWhole: boolean;
}

export class Timeline {
  readonly changed = new Signal<void>();
  now: bigint | null = null;
  private seen: { start: bigint; end: bigint } | null = null;

  constructor(
    private readonly connection: Connection,
    private readonly player: string,
  ) {}

  follow(): End {
    const endTime = this.connection.time.listen((now) => {
      this.now = now;
      const { start, end } = this.seen ?? { start: now, end: now };
      this.seen = { start: now < start ? now : start, end: now > end ? now : end };
      this.changed.emit();
    });
    const endParameters = this.connection.parameters.changed.listen(() => this.changed.emit());
    this.connection.parameters.read([START, END].map((name) => `${this.player}.${name}`));
    return () => {
      endTime();
      endParameters();
    };
  }

  get span(): Span | null {
    const start = this.parameter(START);
    const end = this.parameter(END);
    if (start !== null && end !== null && end - start > 2n * ERROR_NANOS) {
      // A player refuses times outside of its bag.
      return { start: start + ERROR_NANOS, end: end - ERROR_NANOS, isWhole: true };
    }
    return this.seen === null ? null : { ...this.seen, isWhole: false };
  }

  private parameter(name: string): bigint | null {
    const value = this.connection.parameters.values.get(`${this.player}.${name}`)?.value;
    return typeof value === "number" && Number.isFinite(value) && value > 0
      ? BigInt(Math.round(value))
      : null;
  }
}
