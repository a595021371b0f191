// Paths, poses and odometry: lines and arrows.

import {
  ArrowHelper,
  BufferAttribute,
  BufferGeometry,
  Color,
  Group,
  Line,
  LineBasicMaterial,
  LineSegments,
  Vector3,
} from "three";
import { free, type Layer, type Placed } from "./layer";
import { frameName, type Header, matrixOf, type Pose, secondsOf } from "./transforms";

const MOST_POSES = 20_000;
const TRAIL = 500;
const PATH_COLOUR = 0x17a34a;
const POSE_COLOUR = 0xd9480f;

interface PoseStamped {
  header: Header;
  pose: Pose;
}

type Message =
  | { header: Header; poses: Pose[] | PoseStamped[] }
  | PoseStamped
  | { header: Header; pose: { pose: Pose } };

/** Returns the poses of any message that has poses. */
function posesOf(message: Message): Pose[] {
  if ("poses" in message) {
    return message.poses.slice(0, MOST_POSES).map((each) => ("pose" in each ? each.pose : each));
  }
  return ["pose" in message.pose ? message.pose.pose : message.pose];
}

export function lineOf(points: { x: number; y: number; z: number }[], colour: number): Line {
  const positions = new Float32Array(points.length * 3);
  points.forEach(({ x, y, z }, at) => positions.set([x, y, z], at * 3));
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(positions, 3));
  const line = new Line(geometry, new LineBasicMaterial({ color: colour }));
  line.frustumCulled = false;
  return line;
}

/** Makes the axes of many poses as one object: x red, y green, z blue. */
function axesOf(poses: Pose[], length: number): LineSegments {
  const positions = new Float32Array(poses.length * 18);
  const colours = new Float32Array(poses.length * 18);
  const tip = new Vector3();
  poses.forEach((pose, at) => {
    const matrix = matrixOf(pose);
    for (let axis = 0; axis < 3; axis++) {
      const start = at * 18 + axis * 6;
      tip.set(0, 0, 0).setComponent(axis, length).applyMatrix4(matrix);
      positions.set(
        [pose.position.x, pose.position.y, pose.position.z, tip.x, tip.y, tip.z],
        start,
      );
      colours[start + axis] = colours[start + 3 + axis] = 1;
    }
  });
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(positions, 3));
  geometry.setAttribute("color", new BufferAttribute(colours, 3));
  const segments = new LineSegments(geometry, new LineBasicMaterial({ vertexColors: true }));
  segments.frustumCulled = false;
  return segments;
}

function arrowOf(pose: Pose): ArrowHelper {
  const direction = new Vector3(1, 0, 0).transformDirection(matrixOf(pose));
  const { x, y, z } = pose.position;
  return new ArrowHelper(direction, new Vector3(x, y, z), 0.8, new Color(POSE_COLOUR), 0.25, 0.15);
}

export class PosesLayer implements Layer {
  note = "";
  private readonly group = new Group();
  private readonly place: Placed = { frame: "", time: null, object: this.group };
  readonly placed = [this.place];
  private trail: Pose["position"][] = [];

  constructor(private readonly kind: "path" | "poses" | "pose" | "odometry") {}

  update(value: unknown): void {
    const message = value as Message;
    const poses = posesOf(message);
    const frame = frameName(message.header.frame_id);
    if (frame !== this.place.frame) this.trail = [];
    for (const old of [...this.group.children]) free(old);
    if (this.kind === "path") {
      this.group.add(
        lineOf(
          poses.map((each) => each.position),
          PATH_COLOUR,
        ),
      );
    } else if (this.kind === "poses") {
      this.group.add(axesOf(poses, 0.3));
    } else {
      poses.forEach((each) => this.group.add(arrowOf(each)));
    }
    if (this.kind === "odometry") {
      this.trail.push(...poses.map((each) => each.position));
      this.trail.splice(0, this.trail.length - TRAIL);
      this.group.add(lineOf(this.trail, POSE_COLOUR));
    }
    this.note = poses.length > 1 ? `${poses.length} poses` : "";
    this.place.frame = frame;
    // Odometry and paths stay where they were measured; poses are placed where their frame was at
    // their stamp.
    this.place.time = this.kind === "pose" ? secondsOf(message.header.stamp) : null;
  }
}
