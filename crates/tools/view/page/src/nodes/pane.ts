// The pane of nodes: the process, processor time, memory and distribution of each node, how Feros
// speaks with the distributions, and the lifecycle and the components of the chosen node.

import type { Connection } from "../connection/connection";
import type {
  DistributionAdvice,
  DistributionFigures,
  Figures,
  NodeFigures,
} from "../connection/protocol";
import { breakable, h, setText } from "../shell/dom";
import { type Layout, textOf } from "../shell/layout";
import { listed, phrase, Shown } from "../shell/shown";
import { bytes } from "../shell/units";
import { whileVisible } from "../shell/visibility";
import { Components } from "./components";
import { Lifecycle } from "./lifecycle";

/** The participants by distribution: `participants: 1 Feros, 2 Kilted (Fast DDS 3.2.2)`. */
function counted(distributions: DistributionFigures[]): Shown {
  const one = ({ name, participants, libraries }: DistributionFigures): Shown => {
    const some = listed(libraries.slice(0, 3));
    const within = some.text === "" ? some : new Shown(` (${some.text})`);
    return phrase`${String(participants)} ${name}${within}`;
  };
  const participants = distributions.reduce((sum, each) => sum + each.participants, 0);
  const noun = participants === 1 ? "participant" : "participants";
  const all = Shown.join(distributions.map(one), ", ");
  return new Shown(participants === 0 ? "" : `${noun}: ${all.text}`);
}

/** A sentence of the doctor about a group. A warning has its cure in a line of its own. */
function advised({ text, cure }: DistributionAdvice): HTMLElement {
  const sign = cure === null ? "✓ ok" : "! warning";
  return h(
    "li",
    { class: cure === null ? "ok" : "warning" },
    h("b", { class: "sign" }, sign),
    h(
      "div",
      {},
      h("p", {}, breakable(text)),
      cure !== null && h("p", { class: "cure" }, h("b", {}, "Cure: "), breakable(cure)),
    ),
  );
}

/** The time of a processor can be measured from the second figures on. */
function cpuText({ pid, cpu }: NodeFigures): string {
  if (cpu !== null) return `${(cpu * 100).toFixed(1)} %`;
  return pid === null ? "" : "…";
}

export class NodesPane {
  readonly element: HTMLElement;
  readonly filter: HTMLInputElement;
  private readonly body = h("tbody");
  private readonly distributions = h("span", { class: "distributions dim" });
  private readonly advice = h("ul", { class: "findings advice", "aria-label": "Distributions" });
  private shownAdvice = "";
  private readonly details = h("aside", { class: "details", "aria-label": "Node" });
  private chosen = "";
  private shownKey = "";
  private lifecycle: Lifecycle | null = null;

  constructor(
    private readonly connection: Connection,
    private readonly layout: Layout,
  ) {
    this.filter = h("input", {
      type: "search",
      placeholder: "Filter nodes",
      "aria-label": "Filter nodes",
      class: "filter",
      oninput: () => this.draw(connection.figures.latest),
    });
    const heads = ["Node", "Kind", "PID", "CPU", "Memory", "ROS 2"];
    const table = h(
      "table",
      {},
      h("thead", {}, h("tr", {}, ...heads.map((head) => h("th", { scope: "col" }, head)))),
      this.body,
    );
    this.element = h(
      "div",
      { class: "nodes" },
      h("div", { class: "row bar" }, this.filter, this.distributions),
      this.advice,
      h(
        "div",
        { class: "split" },
        h(
          "div",
          { class: "scroll", tabindex: "0", "aria-label": "List of nodes", role: "region" },
          table,
        ),
        this.details,
      ),
    );
    const restore = (): void => {
      this.chosen = textOf(layout.part("nodes").n, "");
      this.shownKey = "";
      this.draw(connection.figures.latest);
    };
    restore();
    layout.replaced.listen(restore);
    connection.services.changed.listen(() => this.showChosen(connection.figures.latest));
    whileVisible(this.element, () => {
      const end = connection.figures.follow((figures) => this.draw(figures));
      // Details that are there keep what the user has entered.
      if (this.details.childElementCount === 0) this.shownKey = "";
      this.draw(connection.figures.latest);
      return () => {
        end();
        this.clearDetails();
      };
    });
  }

  private draw(figures: Figures | null): void {
    const words = this.filter.value.toLowerCase();
    const nodes = (figures?.nodes ?? [])
      .filter(({ name }) => name.toLowerCase().includes(words))
      .sort((one, other) => one.name.localeCompare(other.name))
      .slice(0, 1000);
    const rows = new Map(
      [...this.body.children].map((row) => [row.getAttribute("data-name"), row]),
    );
    nodes.forEach((node, at) => {
      let row = rows.get(node.name);
      if (row === undefined) row = this.row(node.name);
      rows.delete(node.name);
      if (this.body.children[at] !== row)
        this.body.insertBefore(row, this.body.children[at] ?? null);
      this.fill(row, node);
    });
    for (const row of rows.values()) row.remove();
    setText(this.distributions, counted(figures?.distributions ?? []));
    this.showAdvice(figures?.distributionAdvice ?? []);
    this.showChosen(figures);
  }

  /** Replaces the list only when it changes, so that a user can select its text. */
  private showAdvice(advice: DistributionAdvice[]): void {
    const key = JSON.stringify(advice);
    if (key === this.shownAdvice) return;
    this.shownAdvice = key;
    this.advice.replaceChildren(...advice.slice(0, 20).map(advised));
    this.advice.hidden = advice.length === 0;
  }

  private row(name: string): HTMLElement {
    const choose = h(
      "button",
      {
        type: "button",
        class: "link",
        onclick: () => {
          this.chosen = this.chosen === name ? "" : name;
          this.layout.set("nodes", this.chosen === "" ? {} : { n: this.chosen });
          this.draw(this.connection.figures.latest);
        },
      },
      breakable(name),
    );
    return h(
      "tr",
      { "data-name": name },
      h("th", { scope: "row" }, choose),
      h("td"),
      h("td"),
      h("td"),
      h("td"),
      h("td"),
    );
  }

  private fill(row: Element, node: NodeFigures): void {
    const kind = [node.isLifecycle && "lifecycle", node.isContainer && "container"].filter(Boolean);
    const cells = [
      kind.join(", "),
      node.pid === null ? "unknown" : String(node.pid),
      cpuText(node),
      node.pssBytes === null ? "" : bytes(node.pssBytes),
      node.distribution ?? "unknown",
    ];
    cells.forEach((text, at) => setText(row.children[at + 1]!, text));
    row.classList.toggle("chosen", node.name === this.chosen);
    row.querySelector("button")?.setAttribute("aria-pressed", String(node.name === this.chosen));
  }

  private showChosen(figures: Figures | null): void {
    const node = figures?.nodes.find(({ name }) => name === this.chosen);
    const { services } = this.connection;
    const hasLifecycle = node !== undefined && services.has(`${node.name}/get_state`);
    const hasComponents = node !== undefined && services.has(`${node.name}/_container/list_nodes`);
    const key = node === undefined ? "none" : `${node.name} ${hasLifecycle} ${hasComponents}`;
    if (key === this.shownKey) return;
    this.shownKey = key;
    this.clearDetails();
    if (node === undefined) {
      this.details.append(h("p", { class: "dim" }, "Choose a node."));
      return;
    }
    const served = figures?.services.filter(({ servers }) => servers.includes(node.name)) ?? [];
    this.details.append(h("h2", {}, breakable(node.name)));
    if (hasLifecycle) {
      this.lifecycle = new Lifecycle(this.connection, node.name);
      this.details.append(this.lifecycle.element);
    }
    if (hasComponents) {
      this.details.append(new Components(this.connection, node.name).element);
    }
    if ((hasLifecycle || hasComponents) && !this.connection.allowsChanges) {
      this.details.append(
        h("p", { class: "hint warn" }, "To control it, start the server with --allow-changes."),
      );
    }
    if (served.length === 0) return;
    this.details.append(
      h("h3", {}, "Services"),
      h(
        "ul",
        { class: "names" },
        ...served
          .slice(0, 200)
          .map(({ name, type }) =>
            h("li", {}, breakable(name), " ", h("span", { class: "dim" }, breakable(type))),
          ),
      ),
    );
  }

  private clearDetails(): void {
    this.lifecycle?.dispose();
    this.lifecycle = null;
    this.details.replaceChildren();
  }
}
