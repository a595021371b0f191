// The last lines of /rosout, and the minimum level shown of each logger.

import type { Message } from "../connection/channels";
import { beginningOf } from "../shell/shown";

export const LEVELS = [
  [10, "Debug"],
  [20, "Info"],
  [30, "Warn"],
  [40, "Error"],
  [50, "Fatal"],
] as const;

const MOST_LINES = 5000;
const MOST_LOGGERS = 500;

export interface Line {
  /** `null` for a remark of the page, which is not a line of a logger. */
  level: number | null;
  timeNanos: bigint;
  logger: string;
  text: string;
  place: string;
}

export interface Logger {
  name: string;
  /** The number of lines by level, in the order of `LEVELS`. */
  counts: number[];
  /** The minimum level shown; 0 means the minimum level of the pane. */
  least: number;
}

interface Log {
  stamp: { sec: number; nanosec: number };
  level: number;
  name: string;
  msg: string;
  file: string;
  function: string;
  line: number;
}

export function levelName(level: number): string {
  return LEVELS.findLast(([each]) => level >= each)?.[1] ?? "Debug";
}

function shortened(text: string): string {
  const { start, rest } = beginningOf(text);
  return start + rest;
}

export class Store {
  least = 20;
  words = "";
  readonly loggers = new Map<string, Logger>();
  /** The lines that are shown, the oldest first. */
  shown: Line[] = [];
  private readonly lines: Line[] = [];

  take(message: Message): void {
    const log = message.value as unknown as Log;
    const { sec, nanosec } = log.stamp;
    const name = shortened(log.name);
    const logger = this.logger(name);
    const at = LEVELS.findLastIndex(([each]) => log.level >= each);
    if (logger !== undefined) logger.counts[Math.max(at, 0)]! += 1;
    this.push({
      level: log.level,
      timeNanos: BigInt(sec) * 1_000_000_000n + BigInt(nanosec),
      logger: name,
      text: shortened(log.msg),
      place: log.file === "" ? "" : shortened(`${log.file}:${log.line} ${log.function}`),
    });
  }

  remark(text: string): void {
    const timeNanos = BigInt(Date.now()) * 1_000_000n;
    this.push({ level: null, timeNanos, logger: "", text, place: "" });
  }

  refilter(): void {
    this.shown = this.lines.filter((line) => this.isShown(line));
  }

  clear(): void {
    this.lines.length = 0;
    this.shown = [];
    for (const logger of this.loggers.values()) logger.counts.fill(0);
  }

  get count(): number {
    return this.lines.length;
  }

  logger(name: string): Logger | undefined {
    let logger = this.loggers.get(name);
    if (logger === undefined && this.loggers.size < MOST_LOGGERS) {
      logger = { name, counts: LEVELS.map(() => 0), least: 0 };
      this.loggers.set(name, logger);
    }
    return logger;
  }

  private push(line: Line): void {
    this.lines.push(line);
    if (this.isShown(line)) this.shown.push(line);
    if (this.lines.length <= MOST_LINES) return;
    const oldest = this.lines.shift();
    if (this.shown[0] === oldest) this.shown.shift();
  }

  private isShown({ level, logger, text }: Line): boolean {
    if (level === null) return true;
    const least = this.loggers.get(logger)?.least || this.least;
    if (level < least) return false;
    const words = this.words.toLowerCase();
    return words === "" || `${logger} ${text}`.toLowerCase().includes(words);
  }
}
