// The protocol between server and page: the Foxglove WebSocket protocol, version 1, and the
// operations of `feros.view.v1`. This module has the types of the JSON operations, and the readers
// and writers of the binary frames.

/** The subprotocols, the preferred one first. */
export const SUBPROTOCOLS = ["feros.view.v1", "foxglove.sdk.v1", "foxglove.websocket.v1"];

export interface ServerInfo {
  name: string;
  capabilities: string[];
  supportedEncodings?: string[];
  metadata?: Record<string, string>;
  sessionId?: string;
}

export interface ChannelInfo {
  id: number;
  topic: string;
  encoding: string;
  schemaName: string;
  schema: string;
  schemaEncoding?: string;
}

export interface ServiceInfo {
  id: number;
  name: string;
  type: string;
  request?: { schema: string };
  response?: { schema: string };
  requestSchema?: string;
  responseSchema?: string;
}

export type ParameterValue = null | boolean | number | string | ParameterValue[];

export interface Parameter {
  name: string;
  value?: ParameterValue;
  type?: "byte_array" | "float64" | "float64_array";
}

export type Transport = "intraProcess" | "sharedMemory" | "network" | "none";

export interface Mismatch {
  publisher: string;
  subscription: string;
  problem: string;
  cure: string;
}

export interface TopicFigures {
  name: string;
  types: string[];
  publishers: number;
  subscriptions: number;
  transports: Record<Transport, number>;
  rateHz: number | null;
  /** Set by the page: whether the topic has been measured long enough for a rate. */
  isRateKnown?: boolean;
  bytesPerSecond: number | null;
  sizeBytes: number | null;
  ageNanos: MedianAndP99 | null;
  lost: number | null;
  mismatches: Mismatch[];
}

export interface MedianAndP99 {
  p50: number;
  p99: number;
}

/** The recent latencies of an edge's messages, from trace points. */
export interface EdgeLayers {
  messages: number;
  endToEndNanos: MedianAndP99;
  /** The layers, in the order in which messages pass them; the shares add up to 1. */
  layers: { name: string; nanos: MedianAndP99; share: number }[];
}

export interface EdgeFigures {
  topic: string;
  publisher: string;
  subscription: string;
  transport: Transport;
  why: string | null;
  reliability: string;
  durability: string;
  layers?: EdgeLayers | null;
}

export interface NodeFigures {
  name: string;
  pid: number | null;
  /** The share of one processor: 0.035 is 3.5 %. */
  cpu: number | null;
  pssBytes: number | null;
  isLifecycle: boolean;
  isContainer: boolean;
  /** The distribution of ROS 2 in words, such as `Jazzy or Kilted`; absent if it is not known. */
  distribution: string | null;
}

/** The participants whose announcements leave the same distributions of ROS 2. */
export interface DistributionFigures {
  name: string;
  participants: number;
  libraries: string[];
}

/** A sentence of the doctor about a group of distributions; `cure` is null if nothing is wrong. */
export interface DistributionAdvice {
  text: string;
  cure: string | null;
}

export interface CallFigures {
  name: string;
  type: string;
  servers: string[];
  clients: string[];
}

export interface Figures {
  timeNanos: string;
  host: string;
  topics: TopicFigures[];
  edges: EdgeFigures[];
  nodes: NodeFigures[];
  distributions: DistributionFigures[];
  distributionAdvice: DistributionAdvice[];
  services: CallFigures[];
  actions: CallFigures[];
  /** The source of the layers; absent if the server reads no traces. */
  traces?: { folder: string; programs: number | null; problems: string[] } | null;
  connections: {
    count: number;
    sentBytesPerSecond: number;
    droppedMessages: number;
    leftOutMessages: number;
  };
}

export interface Finding {
  area: string;
  level: "ok" | "warning" | "error";
  text: string;
  cure: string | null;
}

/** The publishers, subscriptions and servers, as changes of the earlier state. */
export interface GraphUpdate {
  publishedTopics: { name: string; publisherIds: string[] }[];
  subscribedTopics: { name: string; subscriberIds: string[] }[];
  advertisedServices: { name: string; providerIds: string[] }[];
  removedTopics: string[];
  removedServices: string[];
}

/** The server's text operations. The page ignores unknown operations, as the protocol requires. */
export type ServerText =
  | ({ op: "serverInfo" } & ServerInfo)
  | { op: "status"; level: 0 | 1 | 2; message: string; id?: string }
  | { op: "removeStatus"; statusIds: string[] }
  | { op: "advertise"; channels: ChannelInfo[] }
  | { op: "unadvertise"; channelIds: number[] }
  | { op: "parameterValues"; parameters: Parameter[]; id?: string }
  | { op: "advertiseServices"; services: ServiceInfo[] }
  | { op: "unadvertiseServices"; serviceIds: number[] }
  | { op: "serviceCallFailure"; serviceId: number; callId: number; message: string }
  | ({ op: "connectionGraphUpdate" } & GraphUpdate)
  | ({ op: "figures" } & Figures)
  | { op: "doctorReport"; findings: Finding[] };

export interface MessageFrame {
  kind: "message";
  subscriptionId: number;
  timeNanos: bigint;
  payload: Uint8Array;
}

export interface ResponseFrame {
  kind: "response";
  serviceId: number;
  callId: number;
  payload: Uint8Array;
}

export interface TimeFrame {
  kind: "time";
  timeNanos: bigint;
}

const MESSAGE_DATA = 1;
const TIME = 2;
const SERVICE_RESPONSE = 3;
const SERVICE_REQUEST = 2;

/** Reads a binary frame; `null` if it is too short or of a kind that the page does not use. */
export function readFrame(buffer: ArrayBuffer): MessageFrame | ResponseFrame | TimeFrame | null {
  const view = new DataView(buffer);
  if (view.byteLength < 9) return null;
  const code = view.getUint8(0);
  if (code === TIME) return { kind: "time", timeNanos: view.getBigUint64(1, true) };
  if (view.byteLength < 13) return null;
  if (code === MESSAGE_DATA) {
    return {
      kind: "message",
      subscriptionId: view.getUint32(1, true),
      timeNanos: view.getBigUint64(5, true),
      payload: new Uint8Array(buffer, 13),
    };
  }
  if (code === SERVICE_RESPONSE) {
    const start = 13 + view.getUint32(9, true);
    if (start > view.byteLength) return null;
    return {
      kind: "response",
      serviceId: view.getUint32(1, true),
      callId: view.getUint32(5, true),
      payload: new Uint8Array(buffer, start),
    };
  }
  return null;
}

/** Writes the frame of a service request, whose payload is CDR. */
export function writeRequest(
  serviceId: number,
  callId: number,
  payload: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const encoding = new TextEncoder().encode("cdr");
  const frame = new Uint8Array(13 + encoding.length + payload.length);
  const view = new DataView(frame.buffer);
  view.setUint8(0, SERVICE_REQUEST);
  view.setUint32(1, serviceId, true);
  view.setUint32(5, callId, true);
  view.setUint32(9, encoding.length, true);
  frame.set(encoding, 13);
  frame.set(payload, 13 + encoding.length);
  return frame;
}
