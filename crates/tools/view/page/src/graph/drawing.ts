// The graph as SVG: it is rebuilt when its structure changes; otherwise, only its texts and classes
// change.

import { rateText } from "../connection/live_figures";
import type { NodeFigures } from "../connection/protocol";
import { setAttribute, setText, svg } from "../shell/dom";
import { shown } from "../shell/shown";
import { bytes, nanoseconds } from "../shell/units";
import { type Arrangement, LABEL_WIDTH, type Point, shortName } from "./arrange";
import type { Box, Edge, Graph } from "./model";
import { lookOf, ORDER } from "./transports";

interface Drawn {
  group: SVGGElement;
  words: SVGTextElement[];
}

interface DrawnEdge extends Drawn {
  line: SVGPathElement;
  label: SVGGElement;
  plate: SVGRectElement | null;
}

export class Drawing {
  readonly layer = svg("g");
  private readonly lines = svg("g");
  /** The texts of edges, above all lines, so that no line crosses a text. */
  private readonly labels = svg("g", { "aria-hidden": "true" });
  private readonly outlines = svg("g");
  private readonly boxes = new Map<string, Drawn>();
  private readonly edges = new Map<string, DrawnEdge>();

  constructor(private readonly choose: (id: string) => void) {
    this.layer.append(this.lines, this.labels, this.outlines);
  }

  rebuild(graph: Graph, arrangement: Arrangement): void {
    for (const each of [this.lines, this.labels, this.outlines]) each.replaceChildren();
    this.boxes.clear();
    this.edges.clear();
    for (const edge of graph.edges.values()) this.makeEdge(edge, arrangement);
    for (const box of graph.boxes.values()) this.makeBox(box, arrangement);
  }

  update(graph: Graph, chosen: string): void {
    for (const box of graph.boxes.values()) this.updateBox(box, chosen);
    for (const edge of graph.edges.values()) this.updateEdge(edge, chosen);
    this.makeRoom();
  }

  /** Makes gaps in the lines for their texts, as wide as these; measures all texts first. */
  private makeRoom(): void {
    const labels = [...this.edges.values()].flatMap(({ plate, words }) =>
      plate === null ? [] : [{ plate, widths: words.map((line) => line.getBBox().width) }],
    );
    for (const { plate, widths } of labels) {
      const room = Math.min(Math.max(0, ...widths) + 8, LABEL_WIDTH);
      plate.setAttribute("width", String(room));
      plate.setAttribute("x", String(Number(plate.dataset.x) - room / 2));
    }
  }

  private group(id: string, className: string): SVGGElement {
    return svg("g", {
      class: className,
      tabindex: 0,
      role: "button",
      onclick: () => this.choose(id),
      onkeydown: (event: KeyboardEvent) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        this.choose(id);
      },
    });
  }

  private makeBox(box: Box, arrangement: Arrangement): void {
    const place = arrangement.boxes.get(box.id);
    if (place === undefined) return;
    const { x, y, width, height } = place;
    const group = this.group(box.id, `box ${box.kind}`);
    group.setAttribute("data-id", box.id);
    // Nodes have round ends, topics square corners, and services and actions cut corners, so that
    // shapes distinguish the kinds.
    const [left, top, right, bottom] = [
      x - width / 2,
      y - height / 2,
      x + width / 2,
      y + height / 2,
    ];
    const cut = box.kind === "service" || box.kind === "action" ? 9 : 0;
    const outline =
      cut > 0
        ? svg("path", {
            d:
              `M${left + cut} ${top}H${right - cut}L${right} ${y}L${right - cut} ${bottom}` +
              `H${left + cut}L${left} ${y}Z`,
          })
        : svg("rect", { x: left, y: top, width, height, rx: box.kind === "node" ? 20 : 2 });
    const first = svg("text", { x, y: y - 3, class: "name" }, `${shortName(box.name)} `);
    const second = svg("text", { x, y: y + 13, class: "words" });
    group.append(outline, first, second);
    if (shortName(box.name) !== box.name) group.append(svg("title", {}, box.name));
    this.outlines.append(group);
    this.boxes.set(box.id, { group, words: [second] });
  }

  private updateBox(box: Box, chosen: string): void {
    const drawn = this.boxes.get(box.id);
    if (drawn === undefined) return;
    const words = wordsOf(box);
    for (const line of drawn.words) setText(line, `${words} `);
    drawn.group.classList.toggle("chosen", box.id === chosen);
    drawn.group.classList.toggle("broken", (box.topic?.mismatches.length ?? 0) > 0);
    setAttribute(drawn.group, "aria-label", `${box.kind} ${box.name} ${words}`);
  }

  private makeEdge(edge: Edge, arrangement: Arrangement): void {
    const place = arrangement.edges.get(edge.id);
    if (place === undefined || place.points.length < 2) return;
    const group = this.group(edge.id, `edge ${edge.kind}`);
    group.setAttribute("data-id", edge.id);
    const d = curve(place.points);
    const line = svg("path", { d, class: "line" });
    group.append(
      svg("path", { d, class: "reach" }),
      line,
      svg("path", {
        d: arrowHead(place.points),
        class: "head",
      }),
    );
    const { x, y } = place.label ?? { x: 0, y: 0 };
    const hasWords = place.label !== null && edge.kind === "receive";
    const words = !hasWords
      ? []
      : [-9, 5, 18].map((down, at) =>
          svg("text", { x, y: y + down, class: at === 0 ? "transport" : "words" }),
        );
    const label = svg("g", {
      class: "edge label",
      "data-id": edge.id,
      onclick: () => this.choose(edge.id),
    });
    const plate = hasWords ? svg("rect", { y: y - 20, height: 41, class: "plate" }) : null;
    plate?.setAttribute("data-x", String(x));
    if (plate !== null) label.append(plate);
    label.append(...words);
    this.lines.append(group);
    if (hasWords) this.labels.append(label);
    this.edges.set(edge.id, { group, label, words, line, plate });
  }

  private updateEdge(edge: Edge, chosen: string): void {
    const drawn = this.edges.get(edge.id);
    if (drawn === undefined) return;
    const isBroken = edge.mismatches.length > 0;
    const { dash, width } =
      edge.kind === "receive"
        ? lookOf(edge.transport)
        : { dash: edge.kind === "call" ? "1 3" : "", width: 1.2 };
    drawn.line.setAttribute("stroke-dasharray", isBroken ? "3 3" : dash);
    drawn.line.setAttribute("stroke-width", String(isBroken ? 2.5 : width));
    for (const { classList } of [drawn.group, drawn.label]) {
      for (const each of ORDER) classList.toggle(each, edge.transport === each);
      classList.toggle("broken", isBroken);
      classList.toggle("chosen", edge.id === chosen);
    }
    const words = edgeWords(edge).map((each) => shortened(each));
    drawn.words.forEach((line, at) =>
      setText(line, words[at] === undefined ? "" : `${words[at]} `),
    );
    const ends = `${edge.from} to ${edge.to}`;
    setAttribute(drawn.group, "aria-label", [ends, ...words].join(" "));
  }
}

function wordsOf({ kind, topic, call, node }: Box): string {
  if (kind === "node") return nodeWords(node);
  if (call !== undefined) return call.type.split("/").pop() ?? kind;
  if (topic === undefined) return kind;
  const rate = rateText(topic);
  if (rate === null) return topic.types[0]?.split("/").pop() ?? "";
  const size = topic.sizeBytes === null ? "" : ` · ${bytes(topic.sizeBytes)}`;
  return `${rate}${size}`;
}

function nodeWords(node: NodeFigures | undefined): string {
  if (node === undefined || node.pid === null) return "unknown process";
  return node.cpu === null
    ? `process ${node.pid}`
    : `${node.pid} · ${(node.cpu * 100).toFixed(0)} %`;
}

/** The text of an edge in short lines: the transport, latency and losses, and the QoS. */
export function edgeWords(edge: Edge): string[] {
  if (edge.kind !== "receive") return [];
  const [mismatch] = edge.mismatches;
  if (mismatch !== undefined) return ["✕ mismatch", mismatch.problem, "choose it to see the cure"];
  const kinds = [...new Set(edge.pairs.map((pair) => pair.transport))];
  const { word } = lookOf(edge.transport);
  const transport = kinds.length > 1 ? `${word} + ${kinds.length - 1} more` : word;
  const { ageNanos, lost } = edge.topic ?? { ageNanos: null, lost: null };
  const figures = [
    ageNanos && nanoseconds(ageNanos.p50),
    lost !== null && lost !== undefined && `${lost} lost`,
  ]
    .filter(Boolean)
    .join(" · ");
  const [pair] = edge.pairs;
  const qos = pair === undefined ? "" : `${pair.reliability}, ${pair.durability}`;
  return [transport, ...[figures, qos.replaceAll("_", " ")].filter(Boolean)];
}

const MOST_LETTERS = 26;

/** Shortens a text so that it fits next to the line. */
function shortened(words: string): string {
  const letters = [...shown(words).replace(/^QoS does not match: /, "")];
  const isLong = letters.length > MOST_LETTERS;
  return isLong ? `${letters.slice(0, MOST_LETTERS - 1).join("")}…` : letters.join("");
}

function curve(points: Point[]): string {
  const [first, ...rest] = points as [Point, ...Point[]];
  let d = `M${first.x} ${first.y}`;
  for (let at = 0; at < rest.length - 1; at++) {
    const [here, next] = [rest[at]!, rest[at + 1]!];
    const isLast = at === rest.length - 2;
    const end = isLast ? next : { x: (here.x + next.x) / 2, y: (here.y + next.y) / 2 };
    d += `Q${here.x} ${here.y} ${end.x} ${end.y}`;
  }
  if (rest.length === 1) d += `L${rest[0]!.x} ${rest[0]!.y}`;
  return d;
}

function arrowHead(points: Point[]): string {
  const tip = points[points.length - 1]!;
  const before = points[points.length - 2]!;
  const angle = Math.atan2(tip.y - before.y, tip.x - before.x);
  const corner = (turn: number): string =>
    `${tip.x - 9 * Math.cos(angle + turn)} ${tip.y - 9 * Math.sin(angle + turn)}`;
  return `M${tip.x} ${tip.y}L${corner(0.4)}L${corner(-0.4)}Z`;
}
