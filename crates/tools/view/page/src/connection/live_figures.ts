// The figures of the whole system, once per second, while something visible shows them, and the set
// of measured topics, which combines the topics of all panes.

import { type End, Signal } from "../signal";
import type { Figures } from "./protocol";

const MOST_MEASURED = 200;

export class LiveFigures {
  latest: Figures | null = null;
  private readonly arrived = new Signal<Figures>();
  private readonly measured = new Map<object, string[]>();
  private followers = 0;
  private lastSent = "";

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
    const text = all.join(" ");
    if (text === this.lastSent) return;
    this.lastSent = text;
    this.send({ op: "measureTopics", topics: all });
  }

  receive(figures: Figures): void {
    this.latest = figures;
    this.arrived.emit(figures);
  }

  resume(): void {
    if (this.followers > 0) this.send({ op: "subscribeFigures" });
    const topics = this.lastSent === "" ? [] : this.lastSent.split(" ");
    if (topics.length > 0) this.send({ op: "measureTopics", topics });
  }
}
