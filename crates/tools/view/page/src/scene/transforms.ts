// The transforms of frames: the last seconds of each transform of /tf, all of /tf_static, and the
// pose of one frame in another at a time.

import { Matrix4, Quaternion, Vector3 } from "three";

const KEPT_SECONDS = 10;
const MOST_SAMPLES = 600;
const MOST_FRAMES = 2000;
const DEEPEST = 100;
const ONE = new Vector3(1, 1, 1);

export interface Xyz {
  x: number;
  y: number;
  z: number;
}

export interface Pose {
  position: Xyz;
  orientation: Xyz & { w: number };
}

export interface Header {
  stamp: { sec: number; nanosec: number };
  frame_id: string;
}

export interface TransformStamped {
  header: Header;
  child_frame_id: string;
  transform: { translation: Xyz; rotation: Xyz & { w: number } };
}

interface Sample {
  time: number;
  position: Vector3;
  rotation: Quaternion;
}

interface Frame {
  parent: string;
  samples: Sample[];
}

export function secondsOf(stamp: Header["stamp"]): number {
  return stamp.sec + stamp.nanosec / 1e9;
}

/** Normalizes a quaternion; length zero, which some programs send, means no rotation. */
export function rotationOf({ x, y, z, w }: Xyz & { w: number }): Quaternion {
  const rotation = new Quaternion(x, y, z, w);
  return rotation.length() < 1e-6 ? rotation.identity() : rotation.normalize();
}

export function matrixOf(pose: Pose): Matrix4 {
  const { x, y, z } = pose.position;
  return new Matrix4().compose(new Vector3(x, y, z), rotationOf(pose.orientation), ONE);
}

/** Removes the slash with which the names of frames begin in ROS 1. */
export function frameName(name: string): string {
  return name.startsWith("/") ? name.slice(1) : name;
}

export class Transforms {
  /** The number of transforms that were refused, since there are too many frames. */
  private above = 0;
  /** The number of transforms that no tree can have. */
  private invalid = 0;
  private readonly frames = new Map<string, Frame>();

  add(transform: TransformStamped, isStatic: boolean): void {
    const child = frameName(transform.child_frame_id);
    const parent = frameName(transform.header.frame_id);
    const { translation, rotation } = transform.transform;
    const numbers = [...Object.values(translation), ...Object.values(rotation)];
    if (child === "" || child === parent || !numbers.every(Number.isFinite)) {
      this.invalid += 1;
      return;
    }
    const sample = {
      time: isStatic ? -Infinity : secondsOf(transform.header.stamp),
      position: new Vector3(translation.x, translation.y, translation.z),
      rotation: rotationOf(rotation),
    };
    const frame = this.frames.get(child);
    if (frame === undefined || frame.parent !== parent || isStatic) {
      if (frame === undefined && this.frames.size >= MOST_FRAMES) {
        this.above += 1;
        return;
      }
      this.frames.set(child, { parent, samples: [sample] });
      return;
    }
    const last = frame.samples[frame.samples.length - 1]!;
    // The time went far back, since a bag or a simulation restarted.
    if (sample.time < last.time - KEPT_SECONDS) frame.samples.length = 0;
    else if (sample.time <= last.time) return;
    frame.samples.push(sample);
    const isOld = (): boolean => frame.samples[0]!.time < sample.time - KEPT_SECONDS;
    while (frame.samples.length > 1 && (frame.samples.length > MOST_SAMPLES || isOld())) {
      frame.samples.shift();
    }
  }

  /** Notes on transforms that were left out. */
  notes(): string[] {
    const notes = [];
    if (this.above > 0) {
      notes.push(`${this.above} transforms of frames above the limit of ${MOST_FRAMES}`);
    }
    if (this.invalid > 0) {
      const reasons = "no name, the frame itself as parent, or numbers that are not finite";
      notes.push(`${this.invalid} invalid transforms (${reasons})`);
    }
    return notes;
  }

  names(): string[] {
    const names = new Set<string>();
    for (const [child, { parent }] of this.frames) names.add(child).add(parent);
    return [...names].sort();
  }

  parentOf(frame: string): string | null {
    return this.frames.get(frame)?.parent ?? null;
  }

  rootOf(frame: string): string {
    let at = frame;
    for (let depth = 0; depth < DEEPEST; depth++) {
      const parent = this.parentOf(at);
      if (parent === null) return at;
      at = parent;
    }
    return at;
  }

  /** Returns the pose of `source` in `target`; `null` if no transforms connect the frames. */
  lookup(target: string, source: string, time: number | null): Matrix4 | null {
    if (target === source) return new Matrix4();
    const up = this.toRoot(source, time);
    const down = this.toRoot(target, time);
    if (up.root !== down.root) return null;
    return down.matrix.invert().multiply(up.matrix);
  }

  private toRoot(frame: string, time: number | null): { root: string; matrix: Matrix4 } {
    const matrix = new Matrix4();
    let at = frame;
    for (let depth = 0; depth < DEEPEST; depth++) {
      const found = this.frames.get(at);
      if (found === undefined) break;
      matrix.premultiply(matrixAt(found.samples, time));
      at = found.parent;
    }
    return { root: at, matrix };
  }
}

/** Interpolates the pose between two samples; outside of them, returns the nearest one. */
function matrixAt(samples: Sample[], time: number | null): Matrix4 {
  const last = samples[samples.length - 1]!;
  let above = samples.length - 1;
  if (time !== null && time < last.time) {
    let low = 0;
    while (low < above) {
      const middle = (low + above) >> 1;
      if (samples[middle]!.time < time) low = middle + 1;
      else above = middle;
    }
  }
  const after = samples[above]!;
  const before = samples[above - 1];
  if (time === null || before === undefined || time >= after.time) {
    return new Matrix4().compose(after.position, after.rotation, ONE);
  }
  const part = (time - before.time) / (after.time - before.time);
  const position = before.position.clone().lerp(after.position, part);
  const rotation = before.rotation.clone().slerp(after.rotation, part);
  return new Matrix4().compose(position, rotation, ONE);
}
