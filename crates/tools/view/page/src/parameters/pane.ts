// The pane of parameters: shows and sets the parameters of each node, with a filter.

import type { Connection } from "../connection/connection";
import { type Outcome, splitName } from "../connection/parameters";
import type { Parameter } from "../connection/protocol";
import { breakable, button, h, setText } from "../shell/dom";
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

interface Section {
  details: HTMLDetailsElement;
  rows: HTMLElement;
  count: HTMLElement;
  editors: Map<string, Editor>;
}

/** Moves an element only if its position changes, since a field that is moved loses the focus. */
function putAt(list: HTMLElement, element: HTMLElement, at: number): void {
  const there = list.children[at] ?? null;
  if (there !== element) list.insertBefore(element, there);
}

export class ParametersPane {
  readonly element: HTMLElement;
  readonly filter: HTMLInputElement;
  private readonly list = h("div", { class: "nodes-of-parameters" });
  private readonly note = h("p", { class: "hint" });
  private readonly progress = h("span", { class: "dim", role: "status" });
  private readonly refusal = h(
    "p",
    { class: "hint warn", hidden: true },
    "Read-only: the server was started without --allow-changes.",
  );
  private readonly sections = new Map<string, Section>();
  private opened = new Set<string>();

  constructor(
    private readonly connection: Connection,
    private readonly layout: Layout,
  ) {
    this.filter = h("input", {
      type: "search",
      placeholder: "Filter nodes and parameters",
      class: "filter",
      "aria-label": "Filter parameters",
      oninput: () => {
        this.save();
        this.draw();
      },
    });
    const again = button("Refresh", () => {
      connection.parameters.ask();
      this.draw();
    });
    this.element = h(
      "div",
      { class: "parameters" },
      h("div", { class: "row bar" }, this.filter, again, this.progress),
      this.refusal,
      this.note,
      this.list,
    );
    this.restore();
    layout.replaced.listen(() => this.restore());
    connection.informed.listen(() => this.draw());
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
    for (const [name, { details }] of this.sections) details.open = this.opened.has(name);
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
    const met = all
      .filter(({ name }) => name.toLowerCase().includes(words))
      .sort((one, other) => one.name.localeCompare(other.name))
      .slice(0, MOST_SHOWN);
    this.refusal.hidden = this.connection.info === null || this.canSet;
    this.note.hidden = met.length > 0;
    const { isAsking } = this.connection.parameters;
    setText(this.progress, isAsking && met.length > 0 ? "Waiting for more nodes …" : "");
    const nothing = isAsking ? "Waiting for the nodes …" : "No node has parameters.";
    setText(this.note, all.length === 0 ? nothing : "No parameter matches the filter.");
    const nodes = Map.groupBy(met, ({ name }) => splitName(name)[0]);
    for (const [name, section] of this.sections) {
      if (!nodes.has(name)) section.details.remove();
      if (!nodes.has(name)) this.sections.delete(name);
    }
    [...nodes].forEach(([name, parameters], at) => {
      let section = this.sections.get(name);
      if (section === undefined) {
        this.sections.set(name, (section = this.section(name)));
        section.details.open = this.opened.has(name) || words !== "";
      }
      putAt(this.list, section.details, at);
      this.fill(section, parameters);
    });
  }

  private section(name: string): Section {
    const rows = h("ul");
    const count = h("span", { class: "dim" });
    const details = h(
      "details",
      {
        class: "node",
        ontoggle: () => {
          if (details.open) this.opened.add(name);
          else this.opened.delete(name);
          this.save();
          if (details.open) void this.describe(name);
        },
      },
      h("summary", {}, breakable(name), " ", count),
      rows,
    );
    return { details, rows, count, editors: new Map() };
  }

  /** Editors stay as long as their parameters, so that unfinished text is not lost. */
  private fill({ rows, count, editors }: Section, parameters: Parameter[]): void {
    setText(count, String(parameters.length));
    const left = new Set(editors.keys());
    parameters.forEach((parameter, at) => {
      left.delete(parameter.name);
      let editor = editors.get(parameter.name);
      if (editor === undefined || !editor.fits(parameter, this.canSet)) {
        editor?.element.remove();
        const set = (change: Parameter): Promise<Outcome> => this.connection.parameters.set(change);
        editor = new Editor(parameter, splitName(parameter.name)[1], set, this.canSet);
        editors.set(parameter.name, editor);
      } else editor.show(parameter);
      putAt(rows, editor.element, at);
    });
    for (const name of left) {
      editors.get(name)?.element.remove();
      editors.delete(name);
    }
  }

  /** Adds ranges and descriptions, which only the node itself has. */
  private async describe(node: string): Promise<void> {
    const service = `${node}/describe_parameters`;
    const editors = this.sections.get(node)?.editors;
    if (editors === undefined || !this.connection.services.has(service)) return;
    const names = [...editors.keys()].map((name) => splitName(name)[1]);
    try {
      const answer = await this.connection.services.call(service, { names });
      for (const each of answer.descriptors as Descriptor[]) {
        editors.get(`${node}.${each.name}`)?.describe(descriptionOf(each));
      }
    } catch {
      // The pane works without descriptions, so it does not report this error.
    }
  }
}

function descriptionOf(descriptor: Descriptor): Description {
  const [range] = [...descriptor.floating_point_range, ...descriptor.integer_range];
  const step = range !== undefined && Number(range.step) !== 0 ? ` in steps of ${range.step}` : "";
  const words = range === undefined ? "" : `${range.from_value} to ${range.to_value}${step}`;
  return {
    description: descriptor.description,
    readOnly: descriptor.read_only,
    constraints: [words, descriptor.additional_constraints].filter(Boolean).join(" · "),
  };
}
