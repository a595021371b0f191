// A server that speaks the protocol of `feros view` for any given system: a test double for the
// page. It records the page's operations.

import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { WebSocketServer } from "ws";
import { messageSchema, readerOf, serviceSchemas, writerOf } from "./definitions.mjs";

const DIST = fileURLToPath(new URL("../../dist", import.meta.url));
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; " +
  "connect-src 'self' ws: wss:; img-src 'self' data: blob:";

export class MockServer {
  /** The text frames from the page, the oldest first. */
  received = [];
  connections = new Set();
  channels = new Map();
  services = new Map();
  allowsChanges = true;
  /** The reason with which the server refuses every request; `null` if it refuses none. */
  refusal = null;

  constructor(system) {
    this.system = system;
    for (const [topic, type] of Object.entries(system.topics)) this.addChannel(topic, type);
    for (const [name, service] of Object.entries(system.services)) this.addService(name, service);
  }

  addChannel(topic, type) {
    const id = this.channels.size + 1;
    const schema = messageSchema(type);
    this.channels.set(id, {
      info: { id, topic, encoding: "cdr", schemaName: type, schemaEncoding: "ros2msg", schema },
      writer: writerOf(schema),
    });
  }

  addService(name, { type, answer }) {
    const id = this.services.size + 1;
    const [request, response] = serviceSchemas(type);
    const form = (schema) => ({
      encoding: "cdr",
      schemaEncoding: "ros2msg",
      schemaName: type,
      schema,
    });
    this.services.set(id, {
      info: { id, name, type, request: form(request), response: form(response) },
      answer,
      reader: readerOf(request),
      writer: writerOf(response),
    });
  }

  async listen(port = 0) {
    this.http = createServer((request, response) => void this.serveFile(request, response));
    this.sockets = new WebSocketServer({
      server: this.http,
      verifyClient: () => this.refusal === null,
      handleProtocols: (offered) => (offered.has("feros.view.v1") ? "feros.view.v1" : false),
    });
    this.sockets.on("connection", (socket) => this.welcome(socket));
    await new Promise((resolve) => this.http.listen(port, "127.0.0.1", resolve));
    this.port = this.http.address().port;
    this.timer = setInterval(() => this.tellFigures(), this.system.figuresMs ?? 1000);
    return `http://127.0.0.1:${this.port}/`;
  }

  async close() {
    clearInterval(this.timer);
    this.system.stop?.();
    for (const { socket } of this.connections) socket.terminate();
    this.sockets.close();
    this.http.closeAllConnections();
    await new Promise((resolve) => this.http.close(resolve));
  }

  /** Sends a message, or the CDR of a message, to all subscribers; the bytes are real CDR. */
  publish(topic, message, timeNanos = BigInt(Date.now()) * 1_000_000n) {
    const channel = [...this.channels.values()].find(({ info }) => info.topic === topic);
    let payload = null;
    for (const connection of this.connections) {
      for (const [subscription, entry] of connection.subscriptions) {
        if (entry.channelId !== channel.info.id) continue;
        payload ??= message instanceof Uint8Array ? message : channel.writer.writeMessage(message);
        const frame = Buffer.alloc(13 + payload.length);
        frame.writeUInt8(1, 0);
        frame.writeUInt32LE(subscription, 1);
        frame.writeBigUInt64LE(timeNanos, 5);
        frame.set(payload, 13);
        entry.send(frame);
      }
    }
  }

  tellTime(nanos) {
    const frame = Buffer.alloc(9);
    frame.writeUInt8(2, 0);
    frame.writeBigUInt64LE(nanos, 1);
    for (const { socket } of this.connections) socket.send(frame);
  }

  tell(text) {
    for (const { socket } of this.connections) socket.send(JSON.stringify(text));
  }

  /** The topics that the page subscribes to at the moment, with the requested rates. */
  get subscribed() {
    const entries = [...this.connections].flatMap(({ subscriptions }) => [
      ...subscriptions.values(),
    ]);
    return new Map(
      entries.map(({ channelId, maxRateHz }) => [
        this.channels.get(channelId).info.topic,
        maxRateHz ?? null,
      ]),
    );
  }

  async serveFile(request, response) {
    if (this.refusal !== null) return response.writeHead(401).end(this.refusal);
    const path = new URL(request.url, "http://localhost").pathname;
    const name = path === "/" ? "index.html" : path.slice(1);
    try {
      if (!/^[\w.]+$/.test(name)) throw new Error("no such file");
      const body = await readFile(join(DIST, name));
      const type = TYPES[extname(name)] ?? "text/plain";
      response.writeHead(200, { "content-type": type, "content-security-policy": POLICY });
      return response.end(body);
    } catch {
      return response.writeHead(404).end();
    }
  }

  welcome(socket) {
    const connection = {
      socket,
      subscriptions: new Map(),
      measured: new Set(),
      hasFigures: false,
      hasGraph: false,
    };
    this.connections.add(connection);
    socket.on("close", () => this.connections.delete(connection));
    socket.on("message", (data, isBinary) => {
      if (isBinary) void this.call(socket, data);
      else this.take(connection, JSON.parse(data.toString()));
    });
    const able = ["time", "parameters", "parametersSubscribe", "connectionGraph", "services"];
    const send = (text) => socket.send(JSON.stringify(text));
    send({
      op: "serverInfo",
      name: "feros view on mock",
      capabilities: this.allowsChanges ? [...able, "clientPublish"] : able,
      supportedEncodings: ["cdr"],
      sessionId: "mock",
    });
    send({ op: "advertise", channels: [...this.channels.values()].map(({ info }) => info) });
    const services = [...this.services.values()].map((each) => each.info);
    send({
      op: "advertiseServices",
      services: services.filter(({ type }) => this.allowsChanges || /\/(Get|List|Is)/.test(type)),
    });
  }

  take(connection, text) {
    this.received.push(text);
    const send = (answer) => connection.socket.send(JSON.stringify(answer));
    const { parameters } = this.system;
    switch (text.op) {
      case "subscribe":
        for (const { id, ...entry } of text.subscriptions) this.subscribe(connection, id, entry);
        break;
      case "unsubscribe":
        for (const id of text.subscriptionIds) connection.subscriptions.delete(id);
        break;
      case "subscribeFigures":
        connection.hasFigures = true;
        this.tellFigures();
        break;
      case "unsubscribeFigures":
        connection.hasFigures = false;
        break;
      case "measureTopics":
        connection.measured = new Set(text.topics);
        break;
      case "subscribeConnectionGraph":
        send({ op: "connectionGraphUpdate", ...this.system.graph() });
        break;
      case "getParameters":
        send({
          op: "parameterValues",
          id: text.id,
          parameters: [...parameters.values()].filter(
            ({ name }) => text.parameterNames.length === 0 || text.parameterNames.includes(name),
          ),
        });
        break;
      case "setParameters":
        for (const each of text.parameters) {
          const reason = this.system.setParameter(each);
          const message = `${each.name} is not set: ${reason}`;
          if (reason !== null) send({ op: "status", level: 2, message });
        }
        send({
          op: "parameterValues",
          parameters: text.parameters.map(({ name }) => parameters.get(name)),
          id: text.id,
        });
        break;
      case "doctor":
        send({ op: "doctorReport", findings: this.system.findings });
        break;
      default:
        break;
    }
  }

  subscribe(connection, id, entry) {
    const gapMs = entry.maxRateHz === undefined ? 0 : 1000 / entry.maxRateHz - 4;
    let [last, waiting] = [-Infinity, null];
    const sendWaiting = () => {
      last = performance.now();
      if (connection.subscriptions.has(id)) connection.socket.send(waiting);
      waiting = null;
    };
    // A message that comes too early waits, and is replaced if another one comes in the meantime.
    const send = (frame) => {
      const isTimed = waiting !== null;
      waiting = frame;
      const waitMs = last + gapMs - performance.now();
      if (waitMs <= 0 && !isTimed) sendWaiting();
      else if (!isTimed) setTimeout(sendWaiting, waitMs);
    };
    connection.subscriptions.set(id, { ...entry, send });
    const { topic } = this.channels.get(entry.channelId).info;
    for (const message of this.system.latched?.[topic] ?? []) this.publish(topic, message);
  }

  tellFigures() {
    for (const { socket, hasFigures, measured } of this.connections) {
      if (!hasFigures) continue;
      socket.send(JSON.stringify({ op: "figures", ...this.system.figures(measured) }));
    }
  }

  async call(socket, data) {
    const service = this.services.get(data.readUInt32LE(1));
    const callId = data.readUInt32LE(5);
    const request = service.reader.readMessage(data.subarray(13 + data.readUInt32LE(9)));
    this.received.push({ op: "call", name: service.info.name, request });
    try {
      const payload = service.writer.writeMessage(await service.answer(request));
      const frame = Buffer.alloc(16 + payload.length);
      frame.writeUInt8(3, 0);
      frame.writeUInt32LE(service.info.id, 1);
      frame.writeUInt32LE(callId, 5);
      frame.writeUInt32LE(3, 9);
      frame.write("cdr", 13);
      frame.set(payload, 16);
      socket.send(frame);
    } catch (error) {
      const serviceId = service.info.id;
      const { message } = error;
      socket.send(JSON.stringify({ op: "serviceCallFailure", serviceId, callId, message }));
    }
  }
}
