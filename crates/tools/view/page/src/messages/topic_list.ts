// The list of topics, with a filter; a click opens the display that fits the type of the topic.

import type { Connection } from "../connection/connection";
import { breakable, button, h, setText } from "../shell/dom";
import { type Kind, KIND_NAMES, kindsFor } from "./panel";

const MOST_ROWS = 500;

export class TopicList {
  readonly element: HTMLElement;
  readonly filter = h("input", {
    type: "search",
    placeholder: "Filter topics",
    "aria-label": "Filter topics",
    class: "filter",
    oninput: () => this.draw(),
  });
  private readonly list = h("ul", { class: "topics" });
  private readonly note = h("p", { class: "dim" });
  private readonly rates = new Map<string, HTMLElement>();
  private opened: string | null = null;

  constructor(
    private readonly connection: Connection,
    private readonly open: (topic: string, kind: Kind) => void,
  ) {
    this.element = h(
      "nav",
      { class: "side", "aria-label": "Topics" },
      this.filter,
      this.note,
      this.list,
    );
    connection.channels.changed.listen(() => this.draw());
    this.draw();
  }

  showRates(rates: Map<string, string | null>): void {
    for (const [topic, element] of this.rates) {
      setText(element, rates.get(topic) ?? "");
    }
  }

  private draw(): void {
    const words = this.filter.value.toLowerCase().split(/\s+/);
    const channels = [...this.connection.channels.byTopic.values()]
      .filter((each) =>
        words.every((word) => `${each.topic} ${each.type}`.toLowerCase().includes(word)),
      )
      .sort((one, other) => one.topic.localeCompare(other.topic));
    const count = this.connection.channels.byTopic.size;
    const shown = channels.slice(0, MOST_ROWS);
    setText(this.note, count === 0 ? "No topics yet." : `${shown.length} of ${count} topics`);
    this.rates.clear();
    // The focus stays on its topic when other topics appear or disappear.
    const focused = document.activeElement;
    const label = this.list.contains(focused) ? focused?.getAttribute("title") : null;
    this.list.replaceChildren(...shown.map((each) => this.row(each.topic, each.type)));
    const buttons = [...this.list.querySelectorAll("button")];
    if (label) buttons.find((each) => each.title === label)?.focus();
  }

  private row(topic: string, type: string): HTMLElement {
    const rate = h("span", { class: "rate" });
    this.rates.set(topic, rate);
    const kinds = kindsFor(type);
    const best = kinds[0] ?? "tree";
    const name = h(
      "button",
      {
        type: "button",
        class: "topic",
        title: `Open ${topic} as ${KIND_NAMES[best]}`,
        onclick: () => this.open(topic, best),
      },
      h("span", { class: "name" }, breakable(topic)),
      h("span", { class: "type" }, breakable(type.replace("/msg/", "/"))),
    );
    const isOpen = this.opened === topic;
    const more = button(
      "⋯",
      () => {
        this.opened = isOpen ? null : topic;
        this.draw();
      },
      { label: `Displays for ${topic}`, class: "icon" },
    );
    more.setAttribute("aria-expanded", String(isOpen));
    const ways =
      isOpen &&
      h(
        "span",
        { class: "ways" },
        ...kinds.map((kind) => button(KIND_NAMES[kind], () => this.open(topic, kind))),
      );
    return h("li", {}, name, rate, more, ways);
  }
}
