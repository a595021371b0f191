// The figures of the whole system, once per second, while something visible shows them, and the set
// of measured topics, which combines the topics of all panes.

import { type End, Signal } from "../signal";
import { hertz } from "../shell/units";
import type { Figures, TopicFigures } from "./protocol";

const MOST_MEASURED = 200;
/** A rate of 0 in earlier figures of a topic can mean that its first message is still to come. */
const FIGURES_FOR_ZERO = 3;

/** Returns the rate in words; `null` if the topic is not measured. */
export function rateText(topic: Pick<TopicFigures, "rateHz" | "isRateKnown">): string | null {
  if (topic.rateHz === null) return null;
  return topic.isRateKnown === false ? "…" : hertz(topic.rateHz);
}

export class LiveFigures {
  latest: Figures | null = null;
  private readonly arrived = new Signal<Figures>();
  private readonly measured = new Map<object, string[]>();
  /** How many figures of each topic had its rate. */
  private readonly readings = new Map<string, number>();
  private followers = 0;
  /** The topics that the server measures, as JSON. */
  private lastSent = "[]";

  constructor(private readonly send: (text: object) => void) {}

  follow(listener: (figures: Figures) => void): End {
    const end = this.arrived.listen(listener);
    if (this.followers++ === 0) this.send({ op: "subscribeFigures" });
    return () => {
      end();
      if (--this.followers === 0) this.send({ op: "unsubscribeFigures" });
    };
  }

  /** Measures these topics for one owner, instead of the owner's earlier topics. */
  measure(owner: object, topics: string[]): void {
    if (topics.length === 0) this.measured.delete(owner);
    else this.measured.set(owner, topics);
    const all = [...new Set([...this.measured.values()].flat())].sort().slice(0, MOST_MEASURED);
    const text = JSON.stringify(all);
    if (text === this.lastSent) return;
    this.lastSent = text;
    this.send({ op: "measureTopics", topics: all });
  }

  receive(figures: Figures): void {
    for (const topic of figures.topics) {
      const count = topic.rateHz === null ? 0 : (this.readings.get(topic.name) ?? 0) + 1;
      if (count === 0) this.readings.delete(topic.name);
      else this.readings.set(topic.name, count);
      topic.isRateKnown = topic.rateHz !== 0 || count >= FIGURES_FOR_ZERO;
    }
    const known = new Set(figures.topics.map(({ name }) => name));
    for (const name of this.readings.keys()) if (!known.has(name)) this.readings.delete(name);
    this.latest = figures;
    this.arrived.emit(figures);
  }

  resume(): void {
    this.readings.clear();
    if (this.followers > 0) this.send({ op: "subscribeFigures" });
    const topics = JSON.parse(this.lastSent) as string[];
    if (topics.length > 0) this.send({ op: "measureTopics", topics });
  }
}
