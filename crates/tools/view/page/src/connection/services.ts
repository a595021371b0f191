// Services that the server advertises, and calls of these services. A call ends when its response
// arrives, when it fails, when the connection ends, or at its time limit.

import { Codec, type Value } from "../decode/codec";
import { Signal } from "../signal";
import { type ResponseFrame, type ServiceInfo, writeRequest } from "./protocol";

const LIMIT_MS = 15_000;

interface Service {
  info: ServiceInfo;
  request: Codec;
  response: Codec;
}

interface Call {
  service: Service;
  resolve: (value: Value) => void;
  reject: (error: Error) => void;
  timer: ReturnType<typeof setTimeout>;
}

export class Services {
  readonly changed = new Signal<void>();
  private readonly byId = new Map<number, Service>();
  private readonly byName = new Map<string, Service>();
  private readonly calls = new Map<number, Call>();
  private nextCall = 1;

  constructor(private readonly send: (data: Uint8Array<ArrayBuffer>) => boolean) {}

  has(name: string): boolean {
    return this.byName.has(name);
  }

  /** The names of the services of a type, such as `lifecycle_msgs/srv/GetState`. */
  ofType(type: string): string[] {
    const names = [...this.byName.values()].filter((each) => each.info.type === type);
    return names.map((each) => each.info.name).sort();
  }

  /** Calls a service; rejects with an `Error` that names the service if the call fails. */
  call(name: string, request: Value = {}): Promise<Value> {
    const service = this.byName.get(name);
    if (service === undefined) {
      return Promise.reject(new Error(`The server offers no service ${name} at the moment.`));
    }
    return new Promise((resolve, reject) => {
      const payload = service.request.encode(request);
      const id = this.nextCall++;
      const timer = setTimeout(() => {
        this.end(id)?.reject(new Error(`${name} did not answer within ${LIMIT_MS / 1000} s.`));
      }, LIMIT_MS);
      this.calls.set(id, { service, resolve, reject, timer });
      if (!this.send(writeRequest(service.info.id, id, payload))) {
        this.end(id)?.reject(new Error(`${name} was not called: there is no connection.`));
      }
    });
  }

  advertise(infos: ServiceInfo[]): void {
    for (const info of infos) {
      const service = {
        info,
        request: new Codec(info.request?.schema ?? info.requestSchema ?? ""),
        response: new Codec(info.response?.schema ?? info.responseSchema ?? ""),
      };
      this.byId.set(info.id, service);
      this.byName.set(info.name, service);
    }
    this.changed.emit();
  }

  unadvertise(ids: number[]): void {
    for (const id of ids) {
      const service = this.byId.get(id);
      this.byId.delete(id);
      if (service !== undefined && this.byName.get(service.info.name) === service) {
        this.byName.delete(service.info.name);
      }
    }
    this.changed.emit();
  }

  respond(frame: ResponseFrame): void {
    const call = this.end(frame.callId);
    if (call === null) return;
    try {
      call.resolve(call.service.response.decode(frame.payload));
    } catch (error) {
      call.reject(new Error(`The response of ${call.service.info.name} is unreadable: ${error}`));
    }
  }

  fail(callId: number, message: string): void {
    const call = this.end(callId);
    call?.reject(new Error(`${call.service.info.name} failed: ${message}`));
  }

  reset(): void {
    this.byId.clear();
    this.byName.clear();
    for (const id of [...this.calls.keys()]) this.fail(id, "the connection ended");
    this.changed.emit();
  }

  private end(id: number): Call | null {
    const call = this.calls.get(id);
    if (call === undefined) return null;
    clearTimeout(call.timer);
    this.calls.delete(id);
    return call;
  }
}
