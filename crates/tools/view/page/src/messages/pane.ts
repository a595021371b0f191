// The pane of messages: topics on the left, a grid of displays on the right.

import type { Connection } from "../connection/connection";
import { rateText } from "../connection/live_figures";
import { numericFields, parsePath } from "../decode/fields";
import { ScenePanel } from "../scene/panel";
import { button, h, setAttribute } from "../shell/dom";
import { flagOf, type Layout, type Part, partsOf, textOf } from "../shell/layout";
import { whileVisible } from "../shell/visibility";
import { ImagePanel } from "./image";
import { type Kind, KIND_NAMES, KINDS, kindsFor, type Panel, type PanelContext } from "./panel";
import { PlotPanel } from "./plot";
import { TextPanel } from "./text";
import { TopicList } from "./topic_list";
import { TreePanel } from "./tree";

const MOST_PANELS = 16;

interface Shown {
  panel: Panel;
  frame: HTMLElement;
  isWide: boolean;
}

export class MessagesPane {
  readonly element: HTMLElement;
  readonly filter: HTMLInputElement;
  private readonly grid = h("div", { class: "grid" });
  private readonly hint = h(
    "p",
    { class: "hint" },
    "Choose a topic to show its messages here. ∿ next to a number plots the number.",
  );
  private readonly context: PanelContext;
  private shown: Shown[] = [];
  private lastPlot: PlotPanel | null = null;

  constructor(
    private readonly connection: Connection,
    private readonly layout: Layout,
    /** The controls of a bag that is being played. */
    player: HTMLElement,
  ) {
    this.context = {
      connection,
      changed: () => this.save(),
      plot: (path) => this.plot(path),
    };
    const topics = new TopicList(connection, (topic, kind) => this.open(topic, kind));
    this.filter = topics.filter;
    const newPlot = button("New plot", () => this.append("plot", {}));
    const newScene = button("New 3D view", () => this.append("scene", {}));
    const folded = h(
      "details",
      { class: "fold", open: window.innerWidth > 700 },
      h("summary", {}, "Topics"),
      topics.element,
    );
    this.element = h(
      "div",
      { class: "messages" },
      folded,
      h(
        "div",
        { class: "main" },
        h("div", { class: "row bar" }, newPlot, newScene),
        player,
        this.hint,
        this.grid,
      ),
    );
    layout.replaced.listen(() => this.restore());
    this.restore();
    whileVisible(this.element, () => {
      const endFigures = connection.figures.follow((figures) => {
        topics.showRates(new Map(figures.topics.map((each) => [each.name, rateText(each)])));
        this.measure();
      });
      this.measure();
      return () => {
        endFigures();
        connection.figures.measure(this, []);
      };
    });
  }

  private measure(): void {
    this.connection.figures.measure(this, this.connection.channels.watchedTopics);
  }

  /** Opens a topic in the display that fits its type. */
  openBest(topic: string): void {
    const type = this.connection.channels.byTopic.get(topic)?.type ?? "";
    this.open(topic, kindsFor(type)[0] ?? "tree");
  }

  private open(topic: string, kind: Kind): void {
    if (kind === "plot") {
      const field = this.firstField(topic);
      if (field === null) this.append("plot", {});
      else this.plot(topic + field);
      return;
    }
    const known = this.shown.find(
      ({ panel }) => panel.kind === kind && textOf(panel.state().t, "") === topic,
    );
    if (known !== undefined) {
      known.frame.scrollIntoView({ block: "nearest" });
      known.frame.focus();
      return;
    }
    const scene = this.shown.find(({ panel }) => panel.kind === "scene")?.panel;
    if (kind === "scene" && scene instanceof ScenePanel) scene.add(topic);
    else this.append(kind, kind === "scene" ? { t: [topic] } : { t: topic });
  }

  /** Returns the field to plot: the first number outside of the header. */
  private firstField(topic: string): string | null {
    try {
      const fields = numericFields(
        this.connection.channels.byTopic.get(topic)?.codec.definitions ?? [],
        50,
      );
      return fields.find((field) => !field.startsWith(".header")) ?? null;
    } catch {
      return null;
    }
  }

  private plot(path: string): void {
    if (parsePath(path) === null) return;
    if (this.lastPlot?.add(path) === true) return;
    this.append("plot", { s: [path] });
  }

  private append(kind: Kind, state: Part): void {
    if (this.shown.length >= MOST_PANELS) this.remove(this.shown[0]!);
    this.build(kind, state)?.frame.scrollIntoView({ block: "nearest" });
    this.save();
  }

  private build(kind: Kind, state: Part): Shown {
    const makers: Record<Kind, () => Panel> = {
      tree: () => new TreePanel(this.context, state),
      text: () => new TextPanel(this.context, state),
      plot: () => new PlotPanel(this.context, state),
      image: () => new ImagePanel(this.context, state),
      scene: () => new ScenePanel(this.context, state),
    };
    const panel = makers[kind]();
    if (panel instanceof PlotPanel) this.lastPlot = panel;
    const frame = h("section", { class: `panel kind-${kind}`, tabindex: "-1" });
    const shown: Shown = { panel, frame, isWide: flagOf(state.b, false) };
    setAttribute(frame, "aria-label", `${KIND_NAMES[kind]} ${panel.title()}`);
    frame.classList.toggle("wide", shown.isWide);
    const isTitled = panel.title() !== KIND_NAMES[kind];
    frame.append(
      h(
        "header",
        {},
        isTitled && h("span", { class: "kind" }, KIND_NAMES[kind]),
        h("h2", {}, panel.title()),
        button(
          "⤢",
          () => {
            shown.isWide = frame.classList.toggle("wide");
            this.save();
          },
          { label: "Change the size", class: "icon" },
        ),
        button(
          "×",
          () => {
            this.remove(shown);
            this.save();
          },
          { label: `Close ${KIND_NAMES[kind]} ${panel.title()}`, class: "icon" },
        ),
      ),
      panel.element,
    );
    frame.addEventListener("focusin", () => {
      if (panel instanceof PlotPanel) this.lastPlot = panel;
    });
    this.shown.push(shown);
    this.grid.append(frame);
    this.hint.hidden = true;
    return shown;
  }

  private remove(shown: Shown): void {
    shown.panel.dispose();
    shown.frame.remove();
    this.shown = this.shown.filter((each) => each !== shown);
    if (this.lastPlot === shown.panel) {
      const plots = this.shown.map(({ panel }) => panel);
      this.lastPlot = plots.findLast((panel) => panel instanceof PlotPanel) ?? null;
    }
    this.hint.hidden = this.shown.length > 0;
  }

  private save(): void {
    const panels = this.shown.map(({ panel, isWide }) => ({
      k: panel.kind,
      ...panel.state(),
      ...(isWide ? { b: true } : {}),
    }));
    this.layout.set("messages", { p: panels });
  }

  private restore(): void {
    for (const shown of [...this.shown]) this.remove(shown);
    for (const part of partsOf(this.layout.part("messages").p).slice(0, MOST_PANELS)) {
      const kind = KINDS.find((each) => each === part.k);
      if (kind !== undefined) this.build(kind, part);
    }
  }
}
