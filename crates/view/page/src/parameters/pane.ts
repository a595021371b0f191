// The pane of parameters: by node, with a filter, to read and to set.

import type { Connection } from "../connection/connection";
import { splitName } from "../connection/parameters";
import type { Parameter } from "../connection/protocol";
import { button, h, setText } from "../shell/dom";
import { type Layout, textOf, textsOf } from "../shell/layout";
import { whileVisible } from "../shell/visibility";
import { type Description, Editor } from "./editor";

const MOST_SHOWN = 2000;

interface Descriptor {
  name: string;
  description: string;
  additional_constraints: string;
  read_only: boolean;
  floating_point_range: { from_value: number; to_value: number; step: number }[];
  integer_range: { from_value: bigint; to_value: bigint; step: bigint }[];
}

export class ParametersPane {
  readonly element: HTMLElement;
  readonly filter: HTMLInputElement;
  private readonly list = h("div", { class: "nodes-of-parameters" });
  private readonly note = h("p", { class: "hint" }, "Asking the nodes …");
  private readonly refusal = h("p", { class: "hint warn", hidden: true },
    "Read only: the server was started without --allow-changes.");
  private editors = new Map<string, Editor>();
  private opened = new Set<string>();
  private key = "";

  constructor(private readonly connection: Connection, private readonly layout: Layout) {
    this.filter = h("input", {
      type: "search", placeholder: "Filter nodes and parameters", class: "filter",
      "aria-label": "Filter parameters",
      oninput: () => {
        this.save();
        this.draw();
      },
    });
    const again = button("Read again", () => connection.parameters.ask());
    this.element = h("div", { class: "parameters" }, h("div", { class: "row bar" }, this.filter,
      again), this.refusal, this.note, this.list);
    this.restore();
    layout.replaced.listen(() => this.restore());
    connection.informed.listen(() => {
      this.key = "";
      this.draw();
    });
    whileVisible(this.element, () => {
      const end = connection.parameters.follow(() => this.draw());
      this.draw();
      return end;
    });
  }

  private get canSet(): boolean {
    return this.connection.allowsChanges;
  }

  private restore(): void {
    const part = this.layout.part("parameters");
    this.filter.value = textOf(part.q, "");
    this.opened = new Set(textsOf(part.o));
    this.key = "";
    this.draw();
  }

  private save(): void {
    const open = [...this.opened].slice(0, 30);
    this.layout.set("parameters", {
      ...(this.filter.value === "" ? {} : { q: this.filter.value }),
      ...(open.length === 0 ? {} : { o: open }),
    });
  }

  private draw(): void {
    const all = [...this.connection.parameters.values.values()];
    const words = this.filter.value.toLowerCase();
    const met = all.filter(({ name }) => name.toLowerCase().includes(words))
      .sort((one, other) => one.name.localeCompare(other.name)).slice(0, MOST_SHOWN);
    this.refusal.hidden = this.connection.info === null || this.canSet;
    this.note.hidden = met.length > 0;
    setText(this.note, all.length === 0 ? "No node has told parameters yet." : "None is met.");
    const key = met.map(({ name, value }) => `${name} ${typeof value}`).join("\n");
    if (key === this.key) {
      for (const parameter of met) this.editors.get(parameter.name)?.show(parameter);
      return;
    }
    this.key = key;
    this.editors = new Map();
    const nodes = Map.groupBy(met, ({ name }) => splitName(name)[0]);
    this.list.replaceChildren(...[...nodes].map(([node, parameters]) =>
      this.node(node, parameters, words !== "" || nodes.size === 1)));
  }

  private node(name: string, parameters: Parameter[], isMet: boolean): HTMLElement {
    const rows = h("ul");
    const details = h("details", {
      class: "node", open: isMet || this.opened.has(name),
      ontoggle: () => {
        if (details.open) this.opened.add(name);
        else this.opened.delete(name);
        this.save();
        if (details.open) void this.describe(name, parameters);
      },
    }, h("summary", {}, name, h("span", { class: "dim" }, ` ${parameters.length}`)), rows);
    for (const parameter of parameters) {
      const label = splitName(parameter.name)[1];
      const set = (change: Parameter): Promise<Parameter | null> =>
        this.connection.parameters.set(change);
      const editor = new Editor(parameter, label, set, this.canSet);
      this.editors.set(parameter.name, editor);
      rows.append(editor.element);
    }
    return details;
  }

  /** Ranges and remarks, which the node itself has to be asked for. */
  private async describe(node: string, parameters: Parameter[]): Promise<void> {
    const service = `${node}/describe_parameters`;
    if (!this.connection.services.has(service)) return;
    const names = parameters.map(({ name }) => splitName(name)[1]);
    try {
      const answer = await this.connection.services.call(service, { names });
      for (const each of answer.descriptors as Descriptor[]) {
        this.editors.get(`${node}.${each.name}`)?.describe(descriptionOf(each));
      }
    } catch {
      // Values can be read and set without their descriptions.
    }
  }
}

function descriptionOf(descriptor: Descriptor): Description {
  const [range] = [...descriptor.floating_point_range, ...descriptor.integer_range];
  const step = range !== undefined && Number(range.step) !== 0 ? ` by ${range.step}` : "";
  const words = range === undefined ? "" : `${range.from_value} to ${range.to_value}${step}`;
  return {
    description: descriptor.description,
    readOnly: descriptor.read_only,
    constraints: [words, descriptor.additional_constraints].filter(Boolean).join(" · "),
  };
}
