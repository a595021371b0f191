// Calls the services of one recorder or player, and shows the outcome of each call.

import type { Connection } from "../connection/connection";
import { errorText, type Value } from "../decode/codec";
import { h, setText } from "../shell/dom";
import { lines } from "../shell/shown";

export class Steering {
  readonly outcome = h("p", { class: "outcome", role: "status" });

  constructor(
    private readonly connection: Connection,
    /** The name of the node, with which the names of its services begin. */
    readonly base: string,
  ) {}

  has(service: string): boolean {
    return this.connection.services.has(`${this.base}/${service}`);
  }

  /** Calls a service; returns `null` if the call failed, and shows the reason below the buttons. */
  async call(service: string, request: Value = {}, isQuiet = false): Promise<Value | null> {
    try {
      const answer = await this.connection.services.call(`${this.base}/${service}`, request);
      const words = service.replaceAll("_", " ");
      if (answer.success === false) this.tell("failed", `✕ ${words} was refused`);
      else if (!isQuiet) this.tell("done", `✓ ${words}`);
      return answer.success === false ? null : answer;
    } catch (error) {
      this.tell("failed", `✕ ${errorText(error)}`);
      return null;
    }
  }

  tell(kind: string, words: string): void {
    this.outcome.className = `outcome ${kind}`;
    setText(this.outcome, lines(words));
  }
}
