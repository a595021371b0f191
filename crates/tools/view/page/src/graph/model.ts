// Converts figures to boxes and edges: the content of the graph, without positions.

import type { ConnectionGraph } from "../connection/graph";
import type {
  CallFigures,
  EdgeFigures,
  Figures,
  Mismatch,
  NodeFigures,
  TopicFigures,
  Transport,
} from "../connection/protocol";
import { ORDER } from "./transports";

export type BoxKind = "node" | "topic" | "service" | "action";

export interface Box {
  id: string;
  kind: BoxKind;
  name: string;
  topic?: TopicFigures;
  call?: CallFigures;
  node?: NodeFigures;
}

export interface Edge {
  id: string;
  from: string;
  to: string;
  /** `send` leads to a topic, `receive` leads from a topic, and `call` to or from a service. */
  kind: "send" | "receive" | "call";
  transport: Transport | null;
  pairs: EdgeFigures[];
  mismatches: Mismatch[];
  topic?: TopicFigures;
}

export interface Graph {
  boxes: Map<string, Box>;
  edges: Map<string, Edge>;
}

export interface Wishes {
  filter: string;
  services: boolean;
  actions: boolean;
  /** Whether to show topics and services that every node has, such as logs and parameters. */
  infrastructure: boolean;
  /** Whether to show topics and services that have no node at the other end. */
  deadEnds: boolean;
}

const INFRASTRUCTURE_TOPICS = new Set(["/rosout", "/parameter_events"]);
const INFRASTRUCTURE_SERVICES = new RegExp(
  "/(describe_parameters|get_parameters|get_parameter_types|list_parameters|set_parameters" +
    "|set_parameters_atomically|get_type_description|get_logger_levels|set_logger_levels" +
    "|get_state|change_state|get_available_states|get_available_transitions" +
    "|get_transition_graph|load_node|unload_node|list_nodes)$",
);

function isHidden(name: string): boolean {
  return name.split("/").some((part) => part.startsWith("_"));
}

/** Creates the graph, without boxes that the wishes exclude. */
export function graphOf(figures: Figures, ends: ConnectionGraph, wishes: Wishes): Graph {
  const graph: Graph = { boxes: new Map(), edges: new Map() };
  const builder = new Builder(graph, figures.nodes);
  // Hidden nodes, such as those of commands, are added only with their connections.
  for (const { name } of figures.nodes) {
    if (!isHidden(name) || wishes.infrastructure) builder.node(name);
  }
  for (const topic of figures.topics) {
    const isInfrastructure = INFRASTRUCTURE_TOPICS.has(topic.name) || isHidden(topic.name);
    if (isInfrastructure && !wishes.infrastructure) continue;
    const pairs = figures.edges.filter((edge) => edge.topic === topic.name);
    if (pairs.length > 0 || topic.mismatches.length > 0) builder.topic(topic, pairs);
    if (wishes.deadEnds) builder.deadEnds(topic, ends);
  }
  const calls = (kind: "service" | "action", figuresOfKind: CallFigures[]): void => {
    for (const call of figuresOfKind) {
      const isInfrastructure = INFRASTRUCTURE_SERVICES.test(call.name) || isHidden(call.name);
      if (isInfrastructure && !wishes.infrastructure) continue;
      const isJoined = call.servers.length > 0 && call.clients.length > 0;
      if (isJoined || wishes.deadEnds) builder.call(kind, call);
    }
  };
  if (wishes.services) calls("service", figures.services);
  if (wishes.actions) calls("action", figures.actions);
  return wishes.filter.trim() === "" ? graph : filtered(graph, wishes.filter);
}

/** Returns the reason why a graph has no boxes. */
export function whyEmpty({ nodes }: Figures, wishes: Wishes): string {
  if (wishes.filter.trim() !== "") {
    return "Nothing to show. Check the filter and the options.";
  }
  if (nodes.every(({ name }) => isHidden(name))) {
    return (
      "No node was found yet. Check that nodes are running, and that they have the same " +
      "ROS_DOMAIN_ID and a ROS_AUTOMATIC_DISCOVERY_RANGE that reaches this server. The Doctor " +
      "tab lists problems of the network."
    );
  }
  return "Nothing to show. Check the options.";
}

class Builder {
  private readonly nodes: Map<string, NodeFigures>;

  constructor(
    private readonly graph: Graph,
    nodes: NodeFigures[],
  ) {
    this.nodes = new Map(nodes.map((each) => [each.name, each]));
  }

  node(name: string): string {
    const id = `node ${name}`;
    const node = this.nodes.get(name);
    if (!this.graph.boxes.has(id)) this.graph.boxes.set(id, { id, kind: "node", name, node });
    return id;
  }

  topic(topic: TopicFigures, pairs: EdgeFigures[]): void {
    const id = this.topicBox(topic);
    for (const pair of pairs) this.pair(id, topic, pair.publisher, pair.subscription, pair, null);
    for (const each of topic.mismatches) {
      this.pair(id, topic, each.publisher, each.subscription, null, each);
    }
  }

  deadEnds(topic: TopicFigures, ends: ConnectionGraph): void {
    const id = this.topicBox(topic);
    for (const name of ends.publishers.get(topic.name) ?? []) {
      this.edge(this.node(name), id, "send", topic);
    }
    for (const name of ends.subscriptions.get(topic.name) ?? []) {
      const edge = this.edge(id, this.node(name), "receive", topic);
      edge.transport ??= "none";
    }
  }

  call(kind: "service" | "action", call: CallFigures): void {
    const id = `${kind} ${call.name}`;
    this.graph.boxes.set(id, { id, kind, name: call.name, call });
    for (const client of call.clients) this.edge(this.node(client), id, "call");
    for (const server of call.servers) this.edge(id, this.node(server), "call");
  }

  private topicBox(topic: TopicFigures): string {
    const id = `topic ${topic.name}`;
    this.graph.boxes.set(id, { id, kind: "topic", name: topic.name, topic });
    return id;
  }

  private pair(
    id: string,
    topic: TopicFigures,
    publisher: string,
    subscription: string,
    pair: EdgeFigures | null,
    mismatch: Mismatch | null,
  ): void {
    const [from, to] = [this.node(publisher), this.node(subscription)];
    this.edge(from, id, "send", topic);
    const edge = this.edge(id, to, "receive", topic);
    if (pair !== null) edge.pairs.push(pair);
    if (mismatch !== null) edge.mismatches.push(mismatch);
    const transport = pair?.transport ?? "none";
    const isFarther =
      edge.transport === null || ORDER.indexOf(transport) > ORDER.indexOf(edge.transport);
    if (isFarther) edge.transport = transport;
  }

  private edge(from: string, to: string, kind: Edge["kind"], topic?: TopicFigures): Edge {
    const id = `${from} > ${to}`;
    let edge = this.graph.edges.get(id);
    if (edge === undefined) {
      edge = { id, from, to, kind, transport: null, pairs: [], mismatches: [], topic };
      this.graph.edges.set(id, edge);
    }
    return edge;
  }
}

/** Reduces a graph to the boxes that match the filter's words, and their neighbours. */
function filtered(graph: Graph, filter: string): Graph {
  const words = filter.toLowerCase().trim().split(/\s+/);
  const met = new Set<string>();
  for (const { id, name } of graph.boxes.values()) {
    if (words.some((word) => name.toLowerCase().includes(word))) met.add(id);
  }
  const near = new Set(met);
  for (const { from, to } of graph.edges.values()) {
    if (met.has(from)) near.add(to);
    if (met.has(to)) near.add(from);
  }
  // A topic is of no use without the nodes at its ends, so these are included.
  for (const { from, to } of graph.edges.values()) {
    if (near.has(from) && !from.startsWith("node ")) near.add(to);
    if (near.has(to) && !to.startsWith("node ")) near.add(from);
  }
  return {
    boxes: new Map([...graph.boxes].filter(([id]) => near.has(id))),
    edges: new Map([...graph.edges].filter(([, { from, to }]) => near.has(from) && near.has(to))),
  };
}
