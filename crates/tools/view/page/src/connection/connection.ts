// The state of the server as the page knows it: channels, services, parameters and figures over one
// socket.

import { Signal } from "../signal";
import { Channels } from "./channels";
import { ConnectionGraph } from "./graph";
import { LiveFigures } from "./live_figures";
import { Parameters } from "./parameters";
import { readFrame, type Finding, type ServerInfo, type ServerText } from "./protocol";
import { Services } from "./services";
import { Socket } from "./socket";

export interface Status {
  level: 0 | 1 | 2;
  message: string;
}

export class Connection {
  readonly socket: Socket;
  readonly channels: Channels;
  readonly services: Services;
  readonly parameters: Parameters;
  readonly figures: LiveFigures;
  readonly graph: ConnectionGraph;
  readonly status = new Signal<Status>();
  readonly informed = new Signal<ServerInfo>();
  /** The time of the server's clock, if the time is simulated. */
  readonly time = new Signal<bigint>();
  info: ServerInfo | null = null;
  private readonly reports = new Signal<Finding[]>();

  constructor(address: string) {
    this.socket = new Socket(address, whyRefused);
    const send = (text: object): void => void this.socket.send(JSON.stringify(text));
    this.channels = new Channels(send);
    this.services = new Services((data) => this.socket.send(data));
    this.parameters = new Parameters(send);
    this.figures = new LiveFigures(send);
    this.graph = new ConnectionGraph(send);
    this.socket.text.listen((text) => this.receiveText(text));
    this.socket.binary.listen((buffer) => this.receiveBinary(buffer));
    this.socket.changed.listen((state) => {
      if (state.kind === "open") {
        this.figures.resume();
        this.graph.resume();
        this.parameters.resume();
      } else if (state.kind === "waiting") {
        this.channels.reset();
        this.services.reset();
      }
    });
  }

  /** Whether the server offers a capability. */
  can(capability: "clientPublish" | "services" | "parameters" | "parametersSubscribe"): boolean {
    return this.info?.capabilities.includes(capability) ?? false;
  }

  /** Whether the server was started so that any service can be called and parameters can be set. */
  get allowsChanges(): boolean {
    return this.can("clientPublish");
  }

  askDoctor(): Promise<Finding[]> {
    return new Promise((resolve, reject) => {
      const endWait = this.socket.changed.listen((state) => {
        if (state.kind !== "waiting") return;
        finish();
        reject(new Error("The connection ended before the report arrived."));
      });
      const endReport = this.reports.listen((findings) => {
        finish();
        resolve(findings);
      });
      const finish = (): void => {
        endWait();
        endReport();
      };
      if (this.socket.send(JSON.stringify({ op: "doctor" }))) return;
      finish();
      reject(new Error("There is no connection to the server."));
    });
  }

  private receiveText(json: string): void {
    let text: ServerText;
    try {
      text = JSON.parse(json) as ServerText;
    } catch {
      this.status.emit({ level: 2, message: "The server sent a message that is not JSON." });
      return;
    }
    switch (text.op) {
      case "serverInfo":
        this.info = text;
        this.informed.emit(text);
        break;
      case "status":
        this.parameters.hear(text.message);
        this.status.emit(text);
        break;
      case "advertise":
        this.channels.advertise(text.channels);
        break;
      case "unadvertise":
        this.channels.unadvertise(text.channelIds);
        break;
      case "advertiseServices":
        this.services.advertise(text.services);
        break;
      case "unadvertiseServices":
        this.services.unadvertise(text.serviceIds);
        break;
      case "serviceCallFailure":
        this.services.fail(text.callId, text.message);
        break;
      case "parameterValues":
        this.parameters.receive(text.parameters, text.id);
        break;
      case "connectionGraphUpdate":
        this.graph.receive(text);
        break;
      case "figures":
        this.figures.receive(text);
        break;
      case "doctorReport":
        this.reports.emit(text.findings);
        break;
      default:
        break;
    }
  }

  private receiveBinary(buffer: ArrayBuffer): void {
    const frame = readFrame(buffer);
    if (frame === null) return;
    if (frame.kind === "message") this.channels.deliver(frame);
    else if (frame.kind === "response") this.services.respond(frame);
    else this.time.emit(frame.timeNanos);
  }
}

const LONGEST_REASON = 300;

/**
 * Requests the page to find out why the server refused the WebSocket, since a browser does not
 * report the reason. The server refuses both for the same reason, and its answer states the reason.
 */
async function whyRefused(): Promise<string> {
  try {
    const answer = await fetch(location.pathname + location.search, { cache: "no-store" });
    if (answer.ok) return "the server accepts no connection at the moment";
    const words = (await answer.text()).trim().slice(0, LONGEST_REASON);
    return words === ""
      ? `the server refused the connection (HTTP status ${answer.status})`
      : words;
  } catch {
    return "the server does not answer";
  }
}
