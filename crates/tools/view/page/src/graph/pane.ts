// The pane of the graph: drawing, controls and details. It receives figures only while it is
// visible.

import type { Connection } from "../connection/connection";
import type { Figures } from "../connection/protocol";
import { button, checkbox, h, setText, svg } from "../shell/dom";
import { flagOf, type Layout, type Part, textOf } from "../shell/layout";
import { patchChildren } from "../shell/patch";
import { whileVisible } from "../shell/visibility";
import { type Arrangement, arrange, type Point, structureOf } from "./arrange";
import { Camera } from "./camera";
import { detailsOf } from "./details";
import { Drawing } from "./drawing";
import { type Graph, graphOf, whyEmpty, type Wishes } from "./model";

const MOST_ELEMENTS = 1500;
const MOST_MEASURED = 100;

export class GraphPane {
  readonly element: HTMLElement;
  readonly filter: HTMLInputElement;
  private readonly svg = svg("svg", { class: "graph", role: "group", "aria-label": "Graph" });
  private readonly drawing = new Drawing((id) => this.choose(id));
  private readonly camera: Camera;
  private readonly details = h("aside", { class: "details", "aria-label": "Details" });
  private readonly note = h("p", { class: "hint" }, "Waiting for data from the server …");
  private readonly controls = h("div", { class: "row bar" });
  private wishes!: Wishes;
  private isMeasuring = true;
  private chosen = "";
  private hasOwnPlace = false;
  private structure = "";
  private arrangement: Arrangement | null = null;

  constructor(
    private readonly connection: Connection,
    private readonly layout: Layout,
    private readonly openTopic: (topic: string) => void,
  ) {
    this.filter = h("input", {
      type: "search",
      placeholder: "Filter",
      "aria-label": "Filter graph",
      class: "filter",
      oninput: () => this.wish({ filter: this.filter.value }),
    });
    this.camera = new Camera(this.svg, this.drawing.layer, () => {
      this.hasOwnPlace = true;
      this.save();
    });
    this.svg.append(this.drawing.layer);
    this.svg.addEventListener("click", (event) => {
      if (event.target === this.svg) this.choose("");
    });
    this.details.addEventListener("click", (event) => this.follow(event));
    const canvas = h("div", { class: "canvas" }, this.note);
    canvas.append(this.svg);
    this.element = h(
      "div",
      { class: "graph-pane" },
      this.controls,
      h("div", { class: "split" }, canvas, this.details),
    );
    this.restore();
    layout.replaced.listen(() => this.restore());
    new ResizeObserver(() => this.draw()).observe(canvas);
    whileVisible(this.element, () => {
      const ends = [
        connection.figures.follow(() => this.draw()),
        connection.graph.follow(() => undefined),
      ];
      this.draw();
      return () => {
        ends.forEach((end) => end());
        connection.figures.measure(this, []);
      };
    });
  }

  private restore(): void {
    const part = this.layout.part("graph");
    this.wishes = {
      filter: textOf(part.q, ""),
      services: flagOf(part.s, true),
      actions: flagOf(part.a, true),
      infrastructure: flagOf(part.i, false),
      deadEnds: flagOf(part.d, false),
    };
    this.isMeasuring = flagOf(part.m, true);
    this.chosen = textOf(part.c, "");
    this.filter.value = this.wishes.filter;
    this.hasOwnPlace = Array.isArray(part.v);
    if (Array.isArray(part.v)) this.camera.place = part.v.map(Number);
    const box = (
      words: string,
      name: "services" | "actions" | "infrastructure" | "deadEnds",
    ): HTMLElement => checkbox(words, this.wishes[name], (isOn) => this.wish({ [name]: isOn }));
    const measure = checkbox("Measure", this.isMeasuring, (isOn) => {
      this.isMeasuring = isOn;
      this.save();
      this.draw();
    });
    measure.title = "Measure the rate, size, latency and losses of the topics that are shown";
    this.controls.replaceChildren(
      this.filter,
      box("Services", "services"),
      box("Actions", "actions"),
      box("Infrastructure", "infrastructure"),
      box("Unmatched", "deadEnds"),
      measure,
      h("span", { class: "space" }),
      button("−", () => this.camera.zoom(0.8), { label: "Zoom out", class: "icon" }),
      button("+", () => this.camera.zoom(1.25), { label: "Zoom in", class: "icon" }),
      button("Fit", () => this.fit()),
    );
    this.structure = "";
    this.draw();
  }

  private wish(change: Partial<Wishes>): void {
    this.wishes = { ...this.wishes, ...change };
    this.save();
    this.draw();
  }

  private save(): void {
    const { filter, services, actions, infrastructure, deadEnds } = this.wishes;
    const part: Part = {
      ...(filter === "" ? {} : { q: filter }),
      ...(services ? {} : { s: false }),
      ...(actions ? {} : { a: false }),
      ...(infrastructure ? { i: true } : {}),
      ...(deadEnds ? { d: true } : {}),
      ...(this.isMeasuring ? {} : { m: false }),
      ...(this.chosen === "" ? {} : { c: this.chosen }),
      ...(this.hasOwnPlace ? { v: this.camera.place } : {}),
    };
    this.layout.set("graph", part);
  }

  private choose(id: string): void {
    this.chosen = id;
    this.save();
    this.draw();
  }

  private fit(): void {
    this.hasOwnPlace = false;
    this.save();
    if (this.arrangement !== null) this.camera.fit(this.arrangement.width, this.arrangement.height);
  }

  private draw(): void {
    const figures = this.connection.figures.latest;
    if (figures === null || this.svg.clientWidth === 0) return;
    const graph = graphOf(figures, this.connection.graph, this.wishes);
    const count = graph.boxes.size + graph.edges.size;
    const isTooMuch = count > MOST_ELEMENTS;
    this.note.hidden = count > 0 && !isTooMuch;
    if (count === 0) setText(this.note, whyEmpty(figures, this.wishes));
    if (isTooMuch) {
      setText(this.note, `The graph of ${count} boxes and edges is too large: set a filter.`);
      graph.boxes.clear();
      graph.edges.clear();
    }
    this.measure(graph);
    const structure = structureOf(graph);
    if (structure !== this.structure) {
      this.structure = structure;
      this.arrangement = arrange(graph, this.svg.clientWidth, this.svg.clientHeight);
      this.drawing.rebuild(graph, this.arrangement);
      if (!this.hasOwnPlace) {
        const { width, height } = this.arrangement;
        this.camera.begin(width, height, placesOf(this.arrangement, this.chosen));
      }
    }
    this.drawing.update(graph, this.chosen);
    // The filter reduces the drawing, and not what the details say of a box.
    const isFiltered = this.wishes.filter.trim() !== "" || isTooMuch;
    const all = { ...this.wishes, filter: "" };
    this.describe(figures, isFiltered ? graphOf(figures, this.connection.graph, all) : graph);
  }

  private measure(graph: Graph): void {
    const topics = [...graph.boxes.values()].filter(({ kind }) => kind === "topic");
    const names = this.isMeasuring ? topics.map(({ name }) => name).slice(0, MOST_MEASURED) : [];
    this.connection.figures.measure(this, names);
  }

  /** Updates the details; the button that has the focus keeps it. */
  private describe(figures: Figures, graph: Graph): void {
    const buttons = (): HTMLButtonElement[] => [...this.details.querySelectorAll("button")];
    const focused = buttons().indexOf(document.activeElement as HTMLButtonElement);
    patchChildren(this.details, detailsOf(figures, graph, this.chosen));
    if (focused >= 0 && !this.details.contains(document.activeElement)) buttons()[focused]?.focus();
  }

  private follow({ target }: Event): void {
    const { choose, open } = (target as Element).closest("button")?.dataset ?? {};
    if (choose !== undefined) this.choose(choose);
    if (open !== undefined) this.openTopic(open);
  }
}

/** The points that may be in the centre at first: the chosen box or edge, otherwise all boxes. */
function placesOf({ boxes, edges }: Arrangement, chosen: string): Point[] {
  const place = boxes.get(chosen) ?? edges.get(chosen)?.points[0];
  return place === undefined ? [...boxes.values()] : [place];
}
