// The positions of boxes and edges: in layers from left to right or from top to bottom, whichever
// makes the graph larger in the available space.

import { Graph as LayeredGraph, layout } from "@dagrejs/dagre";
import { shown } from "../shell/shown";
import type { Graph } from "./model";

export interface Point {
  x: number;
  y: number;
}

export interface BoxPlace extends Point {
  width: number;
  height: number;
}

export interface EdgePlace {
  points: Point[];
  /** The position of the edge's text, if it has a text. */
  label: Point | null;
}

export interface Arrangement {
  width: number;
  height: number;
  boxes: Map<string, BoxPlace>;
  edges: Map<string, EdgePlace>;
}

/** The width that is reserved for the longest line of an edge's text. */
export const LABEL_WIDTH = 156;
const LABEL_HEIGHT = 40;
const LETTER_WIDTH = 7;
const BOLD_WIDTH = 7.8;
const MOST_LETTERS = 34;

/** Shortens a long name to its end, which distinguishes it from its neighbours. */
export function shortName(name: string): string {
  const letters = [...shown(name)];
  const isLong = letters.length > MOST_LETTERS;
  return isLong ? `…${letters.slice(1 - MOST_LETTERS).join("")}` : letters.join("");
}

/** Describes the structure, which alone determines the positions of boxes and edges. */
export function structureOf(graph: Graph): string {
  return [...graph.boxes.keys(), ...graph.edges.keys()].sort().join("\n");
}

export function arrange(graph: Graph, width: number, height: number): Arrangement {
  const [across, down] = [layers(graph, false), layers(graph, true)];
  const scale = (each: Arrangement): number => Math.min(width / each.width, height / each.height);
  return scale(down) > scale(across) ? down : across;
}

function layers(graph: Graph, isDown: boolean): Arrangement {
  const layered = new LayeredGraph();
  layered.setGraph({
    rankdir: isDown ? "TB" : "LR",
    nodesep: isDown ? 24 : 20,
    ranksep: isDown ? 26 : 30,
    edgesep: 14,
    marginx: 20,
    marginy: 20,
  });
  layered.setDefaultEdgeLabel(() => ({}));
  for (const { id, kind, name } of [...graph.boxes.values()].sort(byId)) {
    // Names of nodes are bold, and have round ends.
    const isNode = kind === "node";
    const letters = Math.max(shortName(name).length, isNode ? 11 : 18);
    const width = letters * (isNode ? BOLD_WIDTH : LETTER_WIDTH) + (isNode ? 34 : 26);
    layered.setNode(id, { width, height: 40 });
  }
  for (const { id, from, to, kind } of [...graph.edges.values()].sort(byId)) {
    const label =
      kind === "receive" ? { width: LABEL_WIDTH, height: LABEL_HEIGHT, labelpos: "c" } : {};
    layered.setEdge(from, to, { ...label, id });
  }
  layout(layered);
  const boxes = new Map<string, BoxPlace>();
  for (const id of layered.nodes()) boxes.set(id, layered.node(id) as BoxPlace);
  const edges = new Map<string, EdgePlace>();
  for (const each of layered.edges()) {
    const edge = layered.edge(each) as { points: Point[]; x?: number; y?: number; id: string };
    const label = edge.x === undefined ? null : { x: edge.x, y: edge.y ?? 0 };
    edges.set(edge.id, { points: edge.points, label });
  }
  const { width, height } = layered.graph() as { width: number; height: number };
  return { width, height, boxes, edges };
}

function byId(one: { id: string }, other: { id: string }): number {
  return one.id < other.id ? -1 : 1;
}
