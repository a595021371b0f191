// Parameters of all nodes, as the server reports them, and the setting of single parameters.

import { type End, Signal } from "../signal";
import type { Parameter, ParameterValue } from "./protocol";

const LIMIT_MS = 10_000;

/** The outcome of setting a parameter. */
export interface Outcome {
  /** The value that the parameter then has; `null` without an answer in time. */
  now: Parameter | null;
  isSet: boolean;
  /** Why the node refused the value, if the server reports it. */
  reason: string | null;
}

interface Setting {
  resolve: (outcome: Outcome) => void;
  timer: ReturnType<typeof setTimeout>;
  wanted: Parameter;
  reason: string | null;
}

/** The beginning of the server's message that a node refused a value of this parameter. */
export function refusalOf(name: string): string {
  return `${name} is not set: `;
}

/** Whether two values are equal; doubles may differ by one part in 10^12. */
function isSame(one: ParameterValue | undefined, other: ParameterValue | undefined): boolean {
  if (typeof one === "number" && typeof other === "number") {
    return Math.abs(one - other) <= 1e-12 * Math.max(1, Math.abs(one), Math.abs(other));
  }
  return JSON.stringify(one) === JSON.stringify(other);
}

/** `/ns/node.a.b` is parameter `a.b` of `/ns/node`: names of nodes have no dots. */
export function splitName(name: string): [node: string, parameter: string] {
  const dot = name.indexOf(".");
  return dot < 0 ? [name, ""] : [name.slice(0, dot), name.slice(dot + 1)];
}

export class Parameters {
  readonly changed = new Signal<void>();
  /** The name of a parameter that this page has set. */
  readonly wasSet = new Signal<string>();
  readonly values = new Map<string, Parameter>();
  private readonly settings = new Map<string, Setting>();
  private followers = 0;
  private nextId = 1;
  private asked = false;

  constructor(private readonly send: (text: object) => void) {}

  /** Keeps `values` current until the returned function is called. */
  follow(listener: () => void): End {
    const end = this.changed.listen(listener);
    if (this.followers++ === 0) this.ask();
    return () => {
      end();
      if (--this.followers === 0) {
        this.send({ op: "unsubscribeParameterUpdates", parameterNames: [...this.values.keys()] });
      }
    };
  }

  /** Whether some nodes have not reported all values yet. */
  get isAsking(): boolean {
    return this.asked;
  }

  /** Requests all values again, including those of new nodes. */
  ask(): void {
    this.asked = true;
    this.send({ op: "getParameters", parameterNames: [], id: "all" });
  }

  /** Requests some parameters only; `changed` reports when they arrive. */
  read(names: string[]): void {
    this.send({ op: "getParameters", parameterNames: names, id: "some" });
  }

  /** Sets a parameter. */
  set(parameter: Parameter): Promise<Outcome> {
    const id = `set-${this.nextId++}`;
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        const reason = this.settings.get(id)?.reason ?? null;
        this.settings.delete(id);
        resolve({ now: null, isSet: false, reason });
      }, LIMIT_MS);
      this.settings.set(id, { resolve, timer, wanted: parameter, reason: null });
      this.send({ op: "setParameters", parameters: [parameter], id });
    });
  }

  /** Takes a message of the server; the reason of a refusal comes before the answer. */
  hear(message: string): void {
    for (const setting of this.settings.values()) {
      const start = refusalOf(setting.wanted.name);
      if (message.startsWith(start)) setting.reason = message.slice(start.length);
    }
  }

  receive(parameters: Parameter[], id: string | undefined): void {
    const isAll = id === "all";
    if (isAll) {
      this.asked = false;
      this.values.clear();
    }
    for (const parameter of parameters) this.values.set(parameter.name, parameter);
    const setting = id === undefined ? undefined : this.settings.get(id);
    if (id !== undefined && setting !== undefined) {
      this.settings.delete(id);
      clearTimeout(setting.timer);
      const { wanted, reason } = setting;
      const now = parameters.find((each) => each.name === wanted.name) ?? null;
      const isSet = reason === null && now !== null && isSame(now.value, wanted.value);
      setting.resolve({ now, isSet, reason });
      if (isSet) this.wasSet.emit(wanted.name);
    }
    if (isAll && this.followers > 0) {
      this.send({ op: "subscribeParameterUpdates", parameterNames: [...this.values.keys()] });
    }
    this.changed.emit();
  }

  /** Restores the state after a reconnection. */
  resume(): void {
    if (this.followers > 0) this.ask();
  }
}
