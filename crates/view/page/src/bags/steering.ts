// Calls of the services of one recorder or player, and saying what came of them.

import type { Connection } from "../connection/connection";
import { errorText, type Value } from "../decode/codec";
import { h, setText } from "../shell/dom";

export class Steering {
  readonly outcome = h("p", { class: "outcome", role: "status" });

  constructor(
    private readonly connection: Connection,
    /** Name of the node, which is what the names of its services begin with. */
    readonly base: string,
  ) {}

  has(service: string): boolean {
    return this.connection.services.has(`${this.base}/${service}`);
  }

  /** Calls; `null` where it failed, which is said below the buttons. */
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
    setText(this.outcome, words);
  }
}
