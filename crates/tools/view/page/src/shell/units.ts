// Numbers as engineers read them.

const STEPS = ["", "k", "M", "G", "T"];

function scaled(value: number, unit: string): string {
  let step = 0;
  while (Math.abs(value) >= 1000 && step < STEPS.length - 1) {
    value /= 1000;
    step += 1;
  }
  const digits = step === 0 && Number.isInteger(value) ? 0 : value < 10 ? 2 : value < 100 ? 1 : 0;
  return `${value.toFixed(digits)} ${STEPS[step]}${unit}`;
}

export function bytes(value: number): string {
  return scaled(value, "B");
}

export function hertz(value: number): string {
  return `${value < 10 ? value.toFixed(2) : value.toFixed(1)} Hz`;
}

export function nanoseconds(value: number): string {
  if (value < 1000) return `${value} ns`;
  if (value < 1e6) return `${(value / 1e3).toPrecision(3)} µs`;
  if (value < 1e9) return `${(value / 1e6).toPrecision(3)} ms`;
  return `${(value / 1e9).toPrecision(3)} s`;
}

/** Formats a number of a message as briefly as possible without a visible loss of digits. */
export function plain(value: number): string {
  if (Number.isInteger(value)) return String(value);
  const size = Math.abs(value);
  return size >= 1e-4 && size < 1e7 ? String(Number(value.toPrecision(7))) : value.toExponential(4);
}

/** Formats a time as the user's time of day with milliseconds, or as seconds if simulated. */
export function timeOfDay(nanos: bigint): string {
  const millis = Number(nanos / 1_000_000n);
  if (millis < 86_400_000 * 365) return `${(millis / 1000).toFixed(3)} s`;
  const date = new Date(millis);
  const two = (value: number): string => String(value).padStart(2, "0");
  const clock = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":");
  return `${clock}.${String(date.getMilliseconds()).padStart(3, "0")}`;
}
