// A running recorder: buttons to pause, split, take a snapshot and stop, and a field to start a new
// bag.

import type { Connection } from "../connection/connection";
import { button, h, setText } from "../shell/dom";
import { whileVisible } from "../shell/visibility";
import { Steering } from "./steering";

const POLL_MS = 2000;
/** Topics to which a node can subscribe for itself. */
const OWN_TOPICS = new Set(["/clock", "/parameter_events"]);

export class Recorder {
  readonly element: HTMLElement;
  private readonly steering: Steering;
  private readonly toggle: HTMLButtonElement;
  private readonly state = h("output", { class: "state" }, "…");
  private readonly endVisible: () => void;
  private isPaused = false;
  private isStopped = false;
  /** The buttons that have an effect only during a recording. */
  private readonly buttons: HTMLButtonElement[];

  constructor(
    private readonly connection: Connection,
    readonly base: string,
    /** Whether the server lets the page call services that change something. */
    private readonly canSteer: boolean,
  ) {
    this.steering = new Steering(connection, base);
    this.toggle = button("Pause", () => void this.turn());
    const simple = (words: string, service: string): HTMLButtonElement[] =>
      this.steering.has(service) || !canSteer
        ? [button(words, () => void this.steering.call(service).then(() => this.poll()))]
        : [];
    this.buttons = [
      this.toggle,
      ...simple("Split", "split_bagfile"),
      ...simple("Snapshot", "snapshot"),
      ...simple("Stop", "stop"),
    ];
    this.buttons.forEach((each) => (each.disabled = !canSteer));
    const uri = h("input", {
      type: "text",
      placeholder: "Folder of the new bag",
      "aria-label": "Folder of the new bag",
      required: true,
      spellcheck: "false",
    });
    const record =
      this.steering.has("record") &&
      h(
        "form",
        {
          class: "row",
          onsubmit: (event: Event) => {
            event.preventDefault();
            void this.record(uri.value.trim());
          },
        },
        uri,
        h("button", { type: "submit" }, "Record"),
      );
    this.element = h(
      "section",
      { class: "recorder", "data-base": base },
      h("header", {}, h("span", { class: "kind" }, "Recorder"), h("h2", {}, base), this.state),
      h("div", { class: "row" }, ...this.buttons),
      record,
      this.steering.outcome,
    );
    this.endVisible = whileVisible(this.element, () => {
      const timer = setInterval(() => void this.poll(), POLL_MS);
      const endGraph = connection.graph.follow(() => void this.poll());
      void this.poll();
      return () => {
        clearInterval(timer);
        endGraph();
      };
    });
  }

  dispose(): void {
    this.endVisible();
  }

  private async turn(): Promise<void> {
    await this.steering.call(this.isPaused ? "resume" : "pause");
    await this.poll();
  }

  private async record(uri: string): Promise<void> {
    const answer = await this.steering.call("record", { uri }, true);
    if (answer === null) return;
    if (answer.return_code === 0) this.steering.tell("done", `✓ recording into ${uri}`);
    else this.steering.tell("failed", `✕ ${String(answer.error_string)}`);
    await this.poll();
  }

  private async poll(): Promise<void> {
    const answer = await this.steering.call("is_paused", {}, true);
    if (answer === null) return;
    this.isPaused = answer.paused === true;
    this.isStopped = await this.hasStopped();
    setText(this.toggle, this.isPaused ? "Resume" : "Pause");
    const words = this.isPaused ? "‖ paused" : "● recording";
    setText(this.state, this.isStopped ? "■ stopped" : words);
    this.buttons.forEach((each) => (each.disabled = this.isStopped || !this.canSteer));
  }

  /**
   * No service says directly whether a recorder records. If it looks for topics, it does; if it does
   * not look, and subscribes to nothing, it has stopped.
   */
  private async hasStopped(): Promise<boolean> {
    const { graph } = this.connection;
    if (!this.steering.has("is_discovery_running")) return false;
    const answer = await this.steering.call("is_discovery_running", {}, true);
    if (answer === null || graph.subscriptions.size === 0) return this.isStopped;
    if (answer.running === true) return false;
    return ![...graph.subscriptions].some(
      ([topic, nodes]) => !OWN_TOPICS.has(topic) && nodes.includes(this.base),
    );
  }
}
