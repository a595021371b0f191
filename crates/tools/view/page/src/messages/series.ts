// The points of one line of a plot: a ring buffer with a limited number of points and a limited
// time span.

const MOST_POINTS = 10_000;

export class Series {
  private readonly times = new Float64Array(MOST_POINTS);
  private readonly values = new Float64Array(MOST_POINTS);
  private start = 0;
  private length = 0;
  lastValue: number | null = null;

  get count(): number {
    return this.length;
  }

  get lastTime(): number | null {
    if (this.length === 0) return null;
    return this.times[(this.start + this.length - 1) % MOST_POINTS] ?? null;
  }

  /** Adds a point; after a jump back in time, as when a bag restarts, the line starts again. */
  push(time: number, value: number, windowSeconds: number): void {
    const last = this.lastTime;
    if (last !== null && time < last) this.length = 0;
    if (this.length === MOST_POINTS) this.drop();
    const at = (this.start + this.length) % MOST_POINTS;
    this.times[at] = time;
    this.values[at] = value;
    this.length += 1;
    this.lastValue = value;
    // One point before the window stays, so that the line reaches the window's edge.
    while (
      this.length > 2 &&
      (this.times[(this.start + 1) % MOST_POINTS] ?? 0) < time - windowSeconds
    )
      this.drop();
  }

  /** Returns the times, relative to `now`, and the values; a value that is not finite is a gap. */
  columns(now: number): [number[], (number | null)[]] {
    const times = new Array<number>(this.length);
    const values = new Array<number | null>(this.length);
    for (let index = 0; index < this.length; index++) {
      const at = (this.start + index) % MOST_POINTS;
      const value = this.values[at] ?? NaN;
      times[index] = (this.times[at] ?? 0) - now;
      values[index] = Number.isFinite(value) ? value : null;
    }
    return [times, values];
  }

  private drop(): void {
    this.start = (this.start + 1) % MOST_POINTS;
    this.length -= 1;
  }
}
