// The details of the chosen box or edge, or of the whole system if nothing is chosen.

import { rateText } from "../connection/live_figures";
import type {
  CallFigures,
  EdgeFigures,
  Figures,
  Mismatch,
  NodeFigures,
  TopicFigures,
} from "../connection/protocol";
import { breakable, h, svg } from "../shell/dom";
import { lines, listed, phrase, type Shown } from "../shell/shown";
import { bytes, nanoseconds } from "../shell/units";
import { layersOf } from "./layers";
import type { Box, Edge, Graph } from "./model";
import { lookOf, ORDER } from "./transports";

/**
 * Creates the details. Their buttons have no listeners, since the pane keeps elements when it
 * updates them: `data-choose` is the box to choose, and `data-open` the topic to open.
 */
export function detailsOf(figures: Figures, graph: Graph, chosen: string): HTMLElement[] {
  const edge = graph.edges.get(chosen);
  if (edge?.topic !== undefined) {
    const layers = layersOf(edge.pairs, figures);
    return topicDetails(edge.topic, edge.pairs, edge, layers);
  }
  const box = graph.boxes.get(chosen) ?? graph.boxes.get(edge?.from ?? "");
  if (box?.topic !== undefined) {
    const pairs = figures.edges.filter((each) => each.topic === box.name);
    return topicDetails(box.topic, pairs, null, []);
  }
  if (box?.call !== undefined) return callDetails(box, box.call);
  if (box !== undefined) return nodeDetails(figures, graph, box);
  return overview(figures);
}

function facts(pairs: [string, string | Shown | null][]): HTMLElement {
  const list = h("dl");
  for (const [name, value] of pairs) {
    if (value !== null) list.append(h("dt", {}, name), h("dd", {}, breakable(value)));
  }
  return list;
}

/** A button that chooses a box, or that opens a topic. */
function link(
  text: string | DocumentFragment,
  target: { choose?: string; open?: string },
  look?: string,
): HTMLElement {
  const { choose, open } = target;
  const properties = { type: "button", class: look, "data-choose": choose, "data-open": open };
  return h("button", properties, text);
}

function mismatchBlock(mismatch: Mismatch, choose?: string): HTMLElement {
  const { publisher, subscription, problem, cure } = mismatch;
  return h(
    "div",
    { class: "mismatch" },
    h("strong", {}, "✕ Mismatch"),
    h("p", {}, breakable(phrase`${publisher} → ${subscription}: ${problem}`)),
    h("p", {}, h("b", {}, "Cure: "), breakable(lines(cure))),
    choose !== undefined && link("Show", { choose }),
  );
}

function topicDetails(
  topic: TopicFigures,
  pairs: EdgeFigures[],
  edge: Edge | null,
  layers: HTMLElement[],
): HTMLElement[] {
  const age = topic.ageNanos;
  const mismatches = edge === null ? topic.mismatches : edge.mismatches;
  return [
    h("h2", {}, breakable(topic.name)),
    h(
      "p",
      { class: "dim" },
      breakable(edge === null ? "topic" : phrase`edge to ${edge.to.slice(5)}`),
    ),
    ...mismatches.map((each) => mismatchBlock(each)),
    facts([
      ["Type", listed(topic.types)],
      ["Rate", rateText(topic) ?? "not measured"],
      ["Size", topic.sizeBytes === null ? null : bytes(topic.sizeBytes)],
      ["Traffic", trafficText(topic)],
      ["Latency", age && `p50 ${nanoseconds(age.p50)}, p99 ${nanoseconds(age.p99)}`],
      ["Lost", topic.lost === null ? null : String(topic.lost)],
      ["Publishers", String(topic.publishers)],
      ["Subscriptions", String(topic.subscriptions)],
    ]),
    link("Show messages", { open: topic.name }),
    ...layers,
    h("h3", {}, "Matches"),
    matches(pairs),
  ];
}

function matches(pairs: EdgeFigures[]): HTMLElement {
  if (pairs.length === 0) return h("p", { class: "dim" }, "There are no matches.");
  const list = h("ul", { class: "matches" });
  for (const pair of pairs.slice(0, 200)) {
    const { word } = lookOf(pair.transport);
    const qos = `${pair.reliability}, ${pair.durability}`.replaceAll("_", " ");
    list.append(
      h(
        "li",
        {},
        h("span", { class: `badge ${pair.transport}` }, word),
        h("span", {}, breakable(phrase`${pair.publisher} → ${pair.subscription}`)),
        h("span", { class: "dim" }, breakable(pair.why === null ? qos : `${qos}; ${pair.why}`)),
      ),
    );
  }
  return list;
}

function callDetails(box: Box, call: CallFigures): HTMLElement[] {
  return [
    h("h2", {}, breakable(call.name)),
    h("p", { class: "dim" }, box.kind),
    facts([["Type", call.type]]),
    h("h3", {}, "Servers"),
    names(call.servers, "node"),
    h("h3", {}, "Clients"),
    names(call.clients, "node"),
  ];
}

function nodeDetails(figures: Figures, graph: Graph, box: Box): HTMLElement[] {
  const node = figures.nodes.find((each) => each.name === box.name);
  const edges = [...graph.edges.values()];
  const out = edges.filter((edge) => edge.from === box.id && edge.kind === "send");
  const into = edges.filter((edge) => edge.to === box.id && edge.kind === "receive");
  const served = [...figures.services, ...figures.actions]
    .filter(({ servers }) => servers.includes(box.name))
    .map(({ name }) => name);
  const kinds = ["node", node?.isLifecycle && "lifecycle", node?.isContainer && "container"];
  return [
    h("h2", {}, breakable(box.name)),
    h("p", { class: "dim" }, kinds.filter(Boolean).join(", ")),
    facts([
      ["PID", node?.pid?.toString() ?? "unknown: not a Feros node on this host"],
      ["CPU", cpuText(node)],
      ["Memory", node?.pssBytes ? bytes(node.pssBytes) : null],
    ]),
    h("h3", {}, "Publishes"),
    names(
      out.map(({ to }) => to.slice(6)),
      "topic",
    ),
    h("h3", {}, "Subscribes to"),
    names(
      into.map(({ from }) => from.slice(6)),
      "topic",
    ),
    h("h3", {}, "Serves"),
    h(
      "p",
      { class: "dim" },
      breakable(served.length > 0 ? listed(served) : "No services or actions."),
    ),
  ];
}

function trafficText({ bytesPerSecond, isRateKnown }: TopicFigures): string | null {
  if (bytesPerSecond === null) return null;
  return isRateKnown === false ? "…" : `${bytes(bytesPerSecond)}/s`;
}

/** The time of a processor can be measured from the second figures on. */
function cpuText(node: NodeFigures | undefined): string | null {
  if (node === undefined || node.pid === null) return null;
  return node.cpu === null ? "…" : `${(node.cpu * 100).toFixed(1)} % of a core`;
}

function names(list: string[], kind: "node" | "topic"): HTMLElement {
  if (list.length === 0) return h("p", { class: "dim" }, `No ${kind}s.`);
  return h(
    "ul",
    { class: "names" },
    ...list
      .sort()
      .slice(0, 200)
      .map((name) => {
        const choose = `${kind} ${name}`;
        return h("li", { "data-key": choose }, link(breakable(name), { choose }, "link"));
      }),
  );
}

function overview(figures: Figures): HTMLElement[] {
  const mismatches = figures.topics.flatMap((topic) =>
    topic.mismatches.map((each) => mismatchBlock(each, `topic ${topic.name}`)),
  );
  const counted = (name: keyof TopicFigures["transports"]): number =>
    figures.topics.reduce((sum, topic) => sum + (topic.transports[name] ?? 0), 0);
  const legend = h(
    "ul",
    { class: "legend" },
    ...ORDER.map((transport) => {
      const { word, dash, width } = lookOf(transport);
      const line = svg("line", {
        x1: 0,
        y1: 6,
        x2: 40,
        y2: 6,
        class: "line",
        "stroke-width": width,
        "stroke-dasharray": dash,
      });
      const group = svg("g", { class: `edge ${transport}` }, line);
      const sample = svg("svg", { width: 40, height: 12, "aria-hidden": "true" }, group);
      const item = h(
        "li",
        {},
        h("span", { class: "path" }, word),
        h("output", {}, String(counted(transport))),
      );
      item.prepend(sample);
      return item;
    }),
  );
  const { connections } = figures;
  return [
    h("h2", {}, breakable(figures.host)),
    ...mismatches,
    h("h3", {}, "Matches by transport"),
    legend,
    facts([
      ["Nodes", String(figures.nodes.length)],
      ["Topics", String(figures.topics.length)],
      ["Services", String(figures.services.length)],
      ["Actions", String(figures.actions.length)],
      ["Connections", String(connections.count)],
      ["Sent", `${bytes(connections.sentBytesPerSecond)}/s`],
      ["Left out by rate limits", `${connections.leftOutMessages} messages`],
      ["Dropped unread", `${connections.droppedMessages} messages`],
    ]),
    h("p", { class: "dim" }, "Choose a box or an edge to see its figures."),
  ];
}
