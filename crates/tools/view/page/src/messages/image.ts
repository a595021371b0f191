// The latest image of a topic. A new image is drawn only when the previous one is finished, so a
// slow machine leaves images out instead of lagging behind.

import { errorText } from "../decode/codec";
import type { Message } from "../connection/channels";
import { h, setAttribute, setText } from "../shell/dom";
import { type Part, textOf } from "../shell/layout";
import { plain, timeOfDay } from "../shell/units";
import { whileVisible } from "../shell/visibility";
import { type RawImage, toPixels } from "./image_pixels";
import { type Panel, type PanelContext, rateFor, shortType } from "./panel";

export class ImagePanel implements Panel {
  readonly kind = "image";
  readonly element: HTMLElement;
  private readonly topic: string;
  private readonly canvas = h("canvas", { width: 1, height: 1, role: "img" });
  private readonly note = h("p", { class: "dim" }, "No image yet.");
  private readonly spot = h("p", { class: "dim spot" });
  private readonly end: () => void;
  private waiting: Message | null = null;
  private isDrawing = false;

  constructor({ connection }: PanelContext, state: Part) {
    this.topic = textOf(state.t, "");
    setAttribute(this.canvas, "aria-label", `Image of ${this.topic}`);
    this.canvas.addEventListener("pointermove", (event) => this.readSpot(event));
    this.canvas.addEventListener("pointerleave", () => setText(this.spot, ""));
    const frame = h("div", { class: "frame" }, this.canvas);
    this.element = h(
      "div",
      { class: "image" },
      frame,
      h("div", { class: "row" }, this.note, this.spot),
    );
    this.end = whileVisible(this.element, () =>
      connection.channels.watch(this.topic, rateFor, (message) => {
        this.waiting = message;
        if (!this.isDrawing) void this.drawAll();
      }),
    );
  }

  title(): string {
    return this.topic;
  }

  state(): Part {
    return { t: this.topic };
  }

  dispose(): void {
    this.end();
  }

  private async drawAll(): Promise<void> {
    this.isDrawing = true;
    while (this.waiting !== null) {
      const message = this.waiting;
      this.waiting = null;
      await new Promise((resolve) => requestAnimationFrame(resolve));
      try {
        const isCompressed = shortType(message.channel.type) === "sensor_msgs/CompressedImage";
        const words = isCompressed ? await this.drawCompressed(message) : this.drawRaw(message);
        setText(this.note, `${words} · ${timeOfDay(message.timeNanos)}`);
        this.element.classList.remove("failed");
      } catch (error) {
        setText(this.note, errorText(error));
        this.element.classList.add("failed");
      }
    }
    this.isDrawing = false;
  }

  private drawRaw(message: Message): string {
    const image = message.value as unknown as RawImage;
    const { rgba, range } = toPixels(image);
    this.resize(image.width, image.height);
    const data = new ImageData(rgba, image.width, image.height);
    this.canvas.getContext("2d", { willReadFrequently: true })?.putImageData(data, 0, 0);
    const stretched = range === null ? "" : ` · ${plain(range[0])} to ${plain(range[1])}`;
    return `${image.width}×${image.height} ${image.encoding}${stretched}`;
  }

  private async drawCompressed(message: Message): Promise<string> {
    const { format, data } = message.value as { format: string; data: Uint8Array };
    let bitmap: ImageBitmap;
    try {
      bitmap = await createImageBitmap(new Blob([new Uint8Array(data)]));
    } catch {
      throw new Error(`The browser cannot read this image of ${data.length} bytes (${format}).`);
    }
    this.resize(bitmap.width, bitmap.height);
    this.canvas.getContext("2d", { willReadFrequently: true })?.drawImage(bitmap, 0, 0);
    const words = `${bitmap.width}×${bitmap.height} ${format}`;
    bitmap.close();
    return words;
  }

  private resize(width: number, height: number): void {
    if (this.canvas.width === width && this.canvas.height === height) return;
    this.canvas.width = width;
    this.canvas.height = height;
  }

  /** Shows the position and the colours of the pixel below the pointer. */
  private readSpot(event: PointerEvent): void {
    const box = this.canvas.getBoundingClientRect();
    const { width, height } = this.canvas;
    const scale = Math.min(box.width / width, box.height / height);
    const x = Math.floor((event.clientX - box.left - (box.width - width * scale) / 2) / scale);
    const y = Math.floor((event.clientY - box.top - (box.height - height * scale) / 2) / scale);
    if (x < 0 || y < 0 || x >= width || y >= height) return setText(this.spot, "");
    const pixel = this.canvas.getContext("2d")?.getImageData(x, y, 1, 1).data;
    if (pixel) setText(this.spot, `x ${x} y ${y}: ${pixel[0]} ${pixel[1]} ${pixel[2]}`);
  }
}
