// Parameters of all nodes, as the server reports them, and the setting of single parameters.

import { type End, Signal } from "../signal";
import type { Parameter } from "./protocol";

const LIMIT_MS = 10_000;

interface Setting {
  resolve: (parameter: Parameter | null) => void;
  timer: ReturnType<typeof setTimeout>;
  name: string;
}

/** `/ns/node.a.b` is parameter `a.b` of `/ns/node`: names of nodes have no dots. */
export function splitName(name: string): [node: string, parameter: string] {
  const dot = name.indexOf(".");
  return dot < 0 ? [name, ""] : [name.slice(0, dot), name.slice(dot + 1)];
}

export class Parameters {
  readonly changed = new Signal<void>();
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

  /** Sets a parameter; returns the value that it then has, or `null` without an answer in time. */
  set(parameter: Parameter): Promise<Parameter | null> {
    const id = `set-${this.nextId++}`;
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.settings.delete(id);
        resolve(null);
      }, LIMIT_MS);
      this.settings.set(id, { resolve, timer, name: parameter.name });
      this.send({ op: "setParameters", parameters: [parameter], id });
    });
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
      setting.resolve(parameters.find((each) => each.name === setting.name) ?? null);
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
