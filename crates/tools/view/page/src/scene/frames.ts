// The tree of frames in the scene: axes, names, and lines to the parents.

import {
  AxesHelper,
  BufferAttribute,
  BufferGeometry,
  Group,
  LineBasicMaterial,
  LineDashedMaterial,
  LineSegments,
  type Sprite,
  Vector3,
} from "three";
import { DISTANCE, labelOf, leaders, spread } from "./labels";
import { free } from "./layer";
import type { Transforms } from "./transforms";

const MOST_FRAMES = 200;

/** The view of the camera: places on the canvas, in pixels. */
export interface View {
  placeOf: (point: Vector3) => { x: number; y: number } | null;
  /** Returns the point that the view shows `pixels` above another one, at the same depth. */
  raised: (point: Vector3, pixels: number) => Vector3;
  unitPixels: number;
}

export class Frames {
  readonly object = new Group();
  /** A note on frames that are not drawn. */
  note = "";
  private readonly axes = new Map<string, Group>();
  private readonly names = new Map<string, Sprite>();
  private readonly links = new LineSegments(
    new BufferGeometry(),
    new LineDashedMaterial({ color: 0x888888, dashSize: 0.1, gapSize: 0.06 }),
  );
  /** Lines from frames to those of their names that are lifted. */
  private readonly leaders = new LineSegments(
    new BufferGeometry(),
    new LineBasicMaterial({ depthTest: false, transparent: true, opacity: 0.6 }),
  );
  private colour = "";
  private halo = "";

  constructor() {
    this.links.frustumCulled = false;
    this.leaders.frustumCulled = false;
    this.leaders.renderOrder = 9;
    this.object.add(this.links, this.leaders);
  }

  update(transforms: Transforms, fixed: string, [colour, halo]: [string, string]): void {
    if (colour !== this.colour) this.clear();
    this.colour = colour;
    this.leaders.material.color.set(colour);
    this.halo = halo;
    const all = transforms.names();
    const names = all.slice(0, MOST_FRAMES);
    const left = all.length - names.length;
    this.note = left > 0 ? `${left} frames above the limit of ${MOST_FRAMES} that are drawn` : "";
    const places = new Map<string, Vector3>();
    const gone = new Set(this.axes.keys());
    for (const name of names) {
      const matrix = transforms.lookup(fixed, name, null);
      if (matrix === null) continue;
      gone.delete(name);
      const axes = this.axes.get(name) ?? this.make(name);
      axes.matrix.copy(matrix);
      axes.matrixWorldNeedsUpdate = true;
      places.set(name, new Vector3().setFromMatrixPosition(matrix));
    }
    for (const name of gone) {
      const axes = this.axes.get(name);
      if (axes !== undefined) free(axes);
      this.axes.delete(name);
      this.names.delete(name);
    }
    this.link(transforms, places);
  }

  clear(): void {
    for (const axes of this.axes.values()) free(axes);
    this.axes.clear();
    this.names.clear();
  }

  /** Stacks names that would otherwise cover each other, with lines to their frames. */
  spread({ placeOf, raised, unitPixels }: View): void {
    const labels = [...this.names].sort(([one], [other]) => (one < other ? -1 : 1));
    const boxes = labels.map(([name, label]) => {
      const place = placeOf(this.pointOf(name));
      const [width, height] = [label.scale.x * unitPixels, label.scale.y * unitPixels];
      return place && { ...place, width, height };
    });
    const levels = spread(boxes);
    levels.forEach((level, at) => labels[at]![1].center.set(0.5, -DISTANCE - level));
    const points = leaders(boxes, levels).flatMap((pixels, at) => {
      if (pixels === 0) return [];
      const point = this.pointOf(labels[at]![0]);
      return [...point.toArray(), ...raised(point, pixels).toArray()];
    });
    replacePoints(this.leaders, points);
  }

  private pointOf(name: string): Vector3 {
    return new Vector3().setFromMatrixPosition(this.axes.get(name)!.matrix);
  }

  private make(name: string): Group {
    const group = new Group();
    group.matrixAutoUpdate = false;
    const axes = new AxesHelper(0.35);
    const label = labelOf(name, this.colour, 0.035, true, this.halo);
    label.center.set(0.5, -DISTANCE);
    group.add(axes, label);
    this.axes.set(name, group);
    this.names.set(name, label);
    this.object.add(group);
    return group;
  }

  private link(transforms: Transforms, places: Map<string, Vector3>): void {
    const points: number[] = [];
    for (const [name, place] of places) {
      const parent = places.get(transforms.parentOf(name) ?? "");
      if (parent !== undefined) points.push(...place.toArray(), ...parent.toArray());
    }
    replacePoints(this.links, points);
    this.links.computeLineDistances();
  }
}

function replacePoints(lines: LineSegments, points: number[]): void {
  lines.geometry.dispose();
  lines.geometry = new BufferGeometry();
  const positions = new BufferAttribute(new Float32Array(points), 3);
  lines.geometry.setAttribute("position", positions);
}
