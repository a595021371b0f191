// A WebSocket that reconnects: when the connection ends, the page shows the reason, and tries to
// connect again, after a longer wait each time.

import { SUBPROTOCOLS } from "./protocol";
import { Signal } from "../signal";

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;

export type SocketState =
  | { kind: "connecting" }
  | { kind: "open"; protocol: string }
  | { kind: "waiting"; untilMs: number; reason: string };

export class Socket {
  readonly changed = new Signal<SocketState>();
  readonly text = new Signal<string>();
  readonly binary = new Signal<ArrayBuffer>();
  state: SocketState = { kind: "connecting" };
  private socket: WebSocket | null = null;
  private waitMs = FIRST_WAIT_MS;
  private timer: ReturnType<typeof setTimeout> | null = null;

  constructor(
    private readonly address: string,
    /** Returns the reason why there is no connection, as far as a request can find it. */
    private readonly whyRefused: () => Promise<string>,
  ) {}

  /** Tries to connect now, unless there is a connection or an attempt is running. */
  connect(): void {
    if (this.socket !== null) return;
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    this.enter({ kind: "connecting" });
    const socket = new WebSocket(this.address, SUBPROTOCOLS);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    let wasOpen = false;
    socket.onopen = () => {
      wasOpen = true;
      this.waitMs = FIRST_WAIT_MS;
      this.enter({ kind: "open", protocol: socket.protocol });
    };
    socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => {
      if (typeof event.data === "string") this.text.emit(event.data);
      else this.binary.emit(event.data);
    };
    socket.onclose = (event) => {
      if (this.socket !== socket) return;
      this.socket = null;
      const ended =
        event.reason || (event.code === 1001 ? "the server has ended" : "connection lost");
      if (wasOpen) this.tryLater(ended);
      else void this.whyRefused().then((reason) => this.socket ?? this.tryLater(reason));
    };
  }

  /** Sends the data; returns `false` if there is no connection. */
  send(data: string | Uint8Array<ArrayBuffer>): boolean {
    if (this.socket === null || this.socket.readyState !== WebSocket.OPEN) return false;
    this.socket.send(data);
    return true;
  }

  private tryLater(reason: string): void {
    // The wait has a random part, so that the pages of a team do not all reconnect at the same
    // moment.
    const waitMs = this.waitMs * (0.75 + Math.random() / 2);
    this.waitMs = Math.min(this.waitMs * 2, LONGEST_WAIT_MS);
    this.timer = setTimeout(() => this.connect(), waitMs);
    this.enter({ kind: "waiting", untilMs: Date.now() + waitMs, reason });
  }

  private enter(state: SocketState): void {
    this.state = state;
    this.changed.emit(state);
  }
}
