// The 3D view: draws topics with positions in one fixed frame.

import { type Channel, everyMessage, type Message } from "../connection/channels";
import { errorText } from "../decode/codec";
import { type Panel, type PanelContext, rateFor, shortType, SPATIAL } from "../messages/panel";
import { breakable, button, checkbox, h, select, setText } from "../shell/dom";
import { flagOf, type Part, textOf, textsOf } from "../shell/layout";
import { phrase } from "../shell/shown";
import { whileVisible } from "../shell/visibility";
import { Frames } from "./frames";
import { GridLayer } from "./grids";
import { free, type Layer } from "./layer";
import { MarkerLayer } from "./markers";
import { CloudLayer, type Colouring, COLOURINGS, ScanLayer } from "./points";
import { PosesLayer } from "./poses";
import { Stage } from "./stage";
import { type TransformStamped, Transforms } from "./transforms";

const MOST_TOPICS = 16;
/** The view always subscribes to these topics, which have no row of their own. */
const TRANSFORMS = new Set(["/tf", "/tf_static"]);
const PREFERRED = ["map", "odom", "world", "base_link"];

interface Shown {
  topic: string;
  layer: Layer | null;
  problem: string;
  row: HTMLElement;
  note: HTMLElement;
  end: () => void;
}

export class ScenePanel implements Panel {
  readonly kind = "scene";
  readonly element: HTMLElement;
  private readonly transforms = new Transforms();
  private readonly frames = new Frames();
  private stage: Stage | null = null;
  private readonly shown: Shown[] = [];
  private fixed: string;
  private colouring: Colouring;
  private hasFrames: boolean;
  private isVisible = false;
  private readonly ends: (() => void)[] = [];
  private readonly canvas = h("canvas", { tabindex: "0", role: "img", "aria-label": "3D view" });
  private readonly rows = h("ul", { class: "legend" });
  /** The transforms that the view of frames leaves out. */
  private readonly leftOut = h("p", { class: "left-out", hidden: "" });
  private readonly fixedSelect: HTMLSelectElement;
  private readonly addSelect: HTMLSelectElement;

  constructor(
    private readonly context: PanelContext,
    state: Part,
  ) {
    this.fixed = textOf(state.f, "");
    this.hasFrames = flagOf(state.x, true);
    this.colouring = COLOURINGS.find(([each]) => each === state.c)?.[0] ?? "auto";
    this.fixedSelect = select("Fixed frame", [], "", (frame) => {
      this.fixed = frame;
      this.touch();
      context.changed();
    });
    this.addSelect = select("Add a topic", [], "", (topic) => this.add(topic));
    const colours = select("Colour of points", COLOURINGS, this.colouring, (value) => {
      this.colouring = COLOURINGS.find(([each]) => each === value)?.[0] ?? "auto";
      context.changed();
    });
    const frames = checkbox("Frames", this.hasFrames, (isOn) => {
      this.hasFrames = isOn;
      this.touch();
      context.changed();
    });
    const reset = button("Reset view", () => {
      this.stage?.reset();
      context.changed();
    });
    const box = h("div", { class: "stage" }, this.canvas);
    this.element = h(
      "div",
      { class: "scene" },
      h("div", { class: "row controls" }, this.addSelect, this.fixedSelect, colours, frames, reset),
      box,
      this.rows,
      this.leftOut,
    );
    this.prepare(box, state);
    const topics = textsOf(state.t).filter((each) => !TRANSFORMS.has(each));
    for (const topic of topics.slice(0, MOST_TOPICS)) this.append(topic);
    this.ends.push(context.connection.channels.changed.listen(() => this.offer()));
    this.offer();
    this.ends.push(whileVisible(this.element, () => this.start()));
  }

  title(): string {
    return "3D";
  }

  state(): Part {
    const view = this.stage?.view ?? [];
    return {
      t: this.shown.map(({ topic }) => topic),
      v: view,
      ...(this.fixed === "" ? {} : { f: this.fixed }),
      ...(this.colouring === "auto" ? {} : { c: this.colouring }),
      ...(this.hasFrames ? {} : { x: false }),
    };
  }

  dispose(): void {
    this.ends.forEach((end) => end());
    for (const shown of [...this.shown]) this.remove(shown);
    this.frames.clear();
    this.stage?.dispose();
  }

  add(topic: string): void {
    const isShown = TRANSFORMS.has(topic) || this.shown.some((each) => each.topic === topic);
    if (topic === "" || isShown) return;
    if (this.shown.length >= MOST_TOPICS) return;
    this.append(topic);
    this.offer();
    this.context.changed();
  }

  private prepare(box: HTMLElement, state: Part): void {
    const { changed } = this.context;
    try {
      this.stage = new Stage(this.canvas, () => this.place(), changed);
    } catch (error) {
      const words = `This browser lacks WebGL, which the 3D view needs: ${errorText(error)}`;
      box.replaceChildren(h("p", { class: "hint" }, words));
      return;
    }
    const { stage } = this;
    const view = Array.isArray(state.v) ? state.v.map(Number) : [];
    stage.view = view;
    stage.scene.add(this.frames.object);
    const resize = new ResizeObserver(() => stage.resize(box.clientWidth, box.clientHeight));
    resize.observe(box);
    const retheme = (): void => stage.retheme();
    const themes = matchMedia("(prefers-color-scheme: dark)");
    themes.addEventListener("change", retheme);
    window.addEventListener("themechange", retheme);
    this.ends.push(
      () => resize.disconnect(),
      () => themes.removeEventListener("change", retheme),
      () => window.removeEventListener("themechange", retheme),
    );
  }

  private start(): () => void {
    this.isVisible = true;
    const { channels } = this.context.connection;
    const endStage = this.stage?.start();
    const ends = [false, true].map((isStatic) =>
      channels.watch(isStatic ? "/tf_static" : "/tf", everyMessage, (message) => {
        try {
          const { transforms } = message.value as { transforms: TransformStamped[] };
          for (const each of transforms) this.transforms.add(each, isStatic);
          this.touch();
        } catch {
          // A message that is not a TFMessage has no frames; the tree of the topic shows the
          // reason.
        }
      }),
    );
    for (const shown of this.shown) this.watch(shown);
    return () => {
      this.isVisible = false;
      endStage?.();
      ends.forEach((end) => end());
      for (const shown of this.shown) {
        shown.end();
        shown.end = () => undefined;
      }
    };
  }

  private append(topic: string): void {
    const note = h("span", { class: "dim" }, "no message yet");
    const row = h("li");
    const shown: Shown = { topic, layer: null, problem: "", row, note, end: () => undefined };
    row.append(
      h("span", { class: "path" }, breakable(topic)),
      note,
      button(
        "×",
        () => {
          this.remove(shown);
          this.offer();
          this.context.changed();
        },
        { label: `Remove ${topic}`, class: "icon" },
      ),
    );
    this.rows.append(row);
    this.shown.push(shown);
    if (this.isVisible) this.watch(shown);
  }

  private remove(shown: Shown): void {
    shown.end();
    for (const each of shown.layer?.placed ?? []) free(each.object);
    shown.row.remove();
    this.shown.splice(this.shown.indexOf(shown), 1);
    this.touch();
  }

  private watch(shown: Shown): void {
    const { channels } = this.context.connection;
    shown.end = channels.watch(shown.topic, rateFor, (message) => this.take(shown, message));
  }

  private take(shown: Shown, message: Message): void {
    try {
      shown.layer ??= this.layerOf(message.channel);
      shown.layer?.update(message.value);
      shown.problem =
        shown.layer === null ? `the 3D view does not support ${message.channel.type}` : "";
    } catch (error) {
      shown.problem = errorText(error);
    }
    this.touch();
  }

  private layerOf(channel: Channel): Layer | null {
    const colouring = (): Colouring => this.colouring;
    switch (shortType(channel.type)) {
      case "sensor_msgs/PointCloud2":
        return new CloudLayer(colouring);
      case "sensor_msgs/LaserScan":
        return new ScanLayer(colouring);
      case "nav_msgs/OccupancyGrid":
        return new GridLayer();
      case "nav_msgs/Path":
        return new PosesLayer("path");
      case "nav_msgs/Odometry":
        return new PosesLayer("odometry");
      case "geometry_msgs/PoseArray":
        return new PosesLayer("poses");
      case "geometry_msgs/PoseStamped":
      case "geometry_msgs/PoseWithCovarianceStamped":
        return new PosesLayer("pose");
      case "visualization_msgs/Marker":
      case "visualization_msgs/MarkerArray":
        return new MarkerLayer();
      default:
        return null;
    }
  }

  private touch(): void {
    this.stage?.touch();
  }

  /** Puts each object at the pose of its frame, right before a picture is drawn. */
  private place(): void {
    const { stage } = this;
    if (stage === null) return;
    const fixed = this.fixedFrame();
    this.offerFrames(fixed);
    for (const shown of this.shown) {
      let problem = shown.problem;
      shown.layer?.tick?.(performance.now());
      for (const { frame, time, object } of shown.layer?.placed ?? []) {
        const matrix = this.transforms.lookup(fixed, frame, time);
        object.visible = matrix !== null;
        if (matrix === null) problem ||= `no transform from ${frame} to ${fixed}`;
        else {
          object.matrixAutoUpdate = false;
          object.matrix.copy(matrix);
          object.matrixWorldNeedsUpdate = true;
        }
        if (object.parent !== stage.scene) stage.scene.add(object);
      }
      if (shown.layer !== null || problem !== "") setText(shown.note, problem || shown.layer!.note);
      shown.note.classList.toggle("problem", problem !== "");
    }
    this.frames.object.visible = this.hasFrames;
    if (!this.hasFrames) {
      this.tellLeftOut([]);
      return;
    }
    this.frames.update(this.transforms, fixed, stage.textColours);
    this.tellLeftOut(this.frames.note === "" ? [] : [this.frames.note]);
    this.frames.spread({
      placeOf: (point) => stage.placeOf(point),
      raised: (point, pixels) => stage.raised(point, pixels),
      unitPixels: stage.unitPixels,
    });
  }

  private tellLeftOut(notes: string[]): void {
    const all = [...this.transforms.notes(), ...notes];
    this.leftOut.hidden = all.length === 0;
    setText(this.leftOut, `Left out: ${all.join("; ")}`);
  }

  private fixedFrame(): string {
    if (this.fixed !== "") return this.fixed;
    const names = new Set(this.transforms.names());
    const preferred = PREFERRED.find((each) => names.has(each));
    if (preferred !== undefined) return preferred;
    const [first] = names;
    if (first !== undefined) return this.transforms.rootOf(first);
    const frames = this.shown.flatMap(({ layer }) => [...(layer?.placed ?? [])]);
    return frames[0]?.frame ?? "map";
  }

  private offerFrames(fixed: string): void {
    const names = [...new Set([...this.transforms.names(), this.fixed])].filter(Boolean);
    const key = `${fixed} ${names.join(" ")}`;
    if (this.fixedSelect.dataset.key === key) return;
    this.fixedSelect.dataset.key = key;
    this.fixedSelect.replaceChildren(
      h("option", { value: "" }, phrase`Fixed frame: ${this.fixed === "" ? fixed : "automatic"}`),
      ...names.map((name) => h("option", { value: name }, phrase`Fixed frame: ${name}`)),
    );
    this.fixedSelect.value = this.fixed;
  }

  private offer(): void {
    const known = new Set(this.shown.map(({ topic }) => topic));
    const topics = [...this.context.connection.channels.byTopic.values()]
      .filter(({ topic, type }) => SPATIAL.has(shortType(type)) && !known.has(topic))
      .map(({ topic }) => topic)
      .sort();
    this.addSelect.replaceChildren(
      h("option", { value: "" }, "Add a topic …"),
      ...topics.map((topic) => h("option", { value: topic }, topic)),
    );
  }
}
