// The tabs: the page shows one pane at a time, and creates a pane when it is first chosen.

import { h } from "./dom";
import type { Layout } from "./layout";

export interface Pane {
  element: HTMLElement;
  /** The field that the key `/` goes to. */
  filter?: HTMLInputElement;
}

export interface Tab {
  id: string;
  title: string;
  make: () => Pane;
}

interface Shown {
  tab: Tab;
  button: HTMLButtonElement;
  panel: HTMLElement;
  pane: Pane | null;
}

export class Tabs {
  readonly bar = h("div", { class: "tabs", role: "tablist", "aria-label": "Panes" });
  readonly panels = h("main");
  private readonly shown: Shown[];

  constructor(
    tabs: Tab[],
    private readonly layout: Layout,
  ) {
    this.shown = tabs.map((tab) => this.build(tab));
    this.bar.addEventListener("keydown", (event) => {
      const at = this.shown.findIndex(({ button }) => button === document.activeElement);
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (at < 0 || step === undefined) return;
      event.preventDefault();
      const next = this.shown[(at + step + this.shown.length) % this.shown.length]!;
      this.choose(next.tab.id);
      next.button.focus();
    });
    layout.replaced.listen(() => this.show(layout.tab));
    this.show(layout.tab);
  }

  choose(id: string): void {
    this.layout.tab = id;
    this.show(id);
  }

  chooseAt(at: number): void {
    const shown = this.shown[at];
    if (shown !== undefined) this.choose(shown.tab.id);
  }

  get current(): Pane | null {
    return this.shown.find(({ panel }) => !panel.hidden)?.pane ?? null;
  }

  private show(id: string): void {
    const chosen = this.shown.find(({ tab }) => tab.id === id) ?? this.shown[0]!;
    for (const shown of this.shown) {
      const isChosen = shown === chosen;
      if (isChosen && shown.pane === null) {
        shown.pane = shown.tab.make();
        shown.panel.append(shown.pane.element);
      }
      shown.panel.hidden = !isChosen;
      shown.button.setAttribute("aria-selected", String(isChosen));
      shown.button.tabIndex = isChosen ? 0 : -1;
    }
    document.title = `${chosen.tab.title} · Feros`;
  }

  private build(tab: Tab): Shown {
    const button = h(
      "button",
      {
        type: "button",
        role: "tab",
        id: `tab-${tab.id}`,
        "aria-controls": `pane-${tab.id}`,
        onclick: () => this.choose(tab.id),
      },
      tab.title,
    );
    const panel = h("section", {
      role: "tabpanel",
      id: `pane-${tab.id}`,
      "aria-labelledby": `tab-${tab.id}`,
      class: "pane",
      hidden: true,
    });
    this.bar.append(button);
    this.panels.append(panel);
    return { tab, button, panel, pane: null };
  }
}
