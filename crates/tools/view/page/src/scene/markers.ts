// visualization_msgs/Marker: draws the basic shapes, by namespace and id, until a message deletes
// them or they expire.

import {
  BoxGeometry,
  BufferAttribute,
  BufferGeometry,
  CylinderGeometry,
  DoubleSide,
  Group,
  InstancedMesh,
  Line,
  LineBasicMaterial,
  LineSegments,
  Matrix4,
  Mesh,
  MeshLambertMaterial,
  Object3D,
  Points,
  PointsMaterial,
  Quaternion,
  SphereGeometry,
  Vector3,
  Color,
  ConeGeometry,
} from "three";
import { labelOf } from "./labels";
import { free, type Layer, type Placed } from "./layer";
import { frameName, type Header, matrixOf, type Pose, secondsOf, type Xyz } from "./transforms";

const MOST_MARKERS = 5000;
const MOST_POINTS = 200_000;

interface Rgba {
  r: number;
  g: number;
  b: number;
  a: number;
}

interface Marker {
  header: Header;
  ns: string;
  id: number;
  type: number;
  action: number;
  pose: Pose;
  scale: Xyz;
  color: Rgba;
  lifetime: { sec: number; nanosec: number };
  frame_locked: boolean;
  points: Xyz[];
  colors: Rgba[];
  text: string;
}

interface Kept extends Placed {
  endsAtMs: number;
}

const DELETE = 2;
const DELETE_ALL = 3;

export class MarkerLayer implements Layer {
  note = "";
  private readonly kept = new Map<string, Kept>();
  private refused = 0;
  private unknown = 0;

  get placed(): Iterable<Placed> {
    return this.kept.values();
  }

  update(value: unknown): void {
    const message = value as Marker | { markers: Marker[] };
    for (const marker of "markers" in message ? message.markers : [message]) this.take(marker);
    const notes = [`${this.kept.size} markers`];
    if (this.unknown > 0) notes.push(`${this.unknown} of unsupported types`);
    if (this.refused > 0) notes.push(`${this.refused} above the limit of ${MOST_MARKERS}`);
    this.note = notes.join(", ");
  }

  tick(nowMs: number): void {
    for (const [key, { endsAtMs }] of this.kept) if (endsAtMs < nowMs) this.drop(key);
  }

  private take(marker: Marker): void {
    const key = `${marker.ns}\n${marker.id}`;
    if (marker.action === DELETE_ALL) {
      for (const each of [...this.kept.keys()]) this.drop(each);
      return;
    }
    this.drop(key);
    if (marker.action === DELETE) return;
    if (this.kept.size >= MOST_MARKERS) {
      this.refused += 1;
      return;
    }
    const shape = shapeOf(marker);
    if (shape === null) {
      this.unknown += 1;
      return;
    }
    const object = new Group();
    const inner = new Group();
    inner.applyMatrix4(matrixOf(marker.pose));
    inner.add(shape);
    object.add(inner);
    const lifetimeMs = secondsOf(marker.lifetime) * 1000;
    this.kept.set(key, {
      frame: frameName(marker.header.frame_id),
      time: marker.frame_locked ? null : secondsOf(marker.header.stamp) || null,
      object,
      endsAtMs: lifetimeMs > 0 ? performance.now() + lifetimeMs : Infinity,
    });
  }

  private drop(key: string): void {
    const kept = this.kept.get(key);
    if (kept === undefined) return;
    free(kept.object);
    this.kept.delete(key);
  }
}

function colourOf({ r, g, b }: Rgba): Color {
  return new Color().setRGB(r, g, b, "srgb");
}

function solid({ color }: Marker): MeshLambertMaterial {
  return new MeshLambertMaterial({
    color: colourOf(color),
    transparent: color.a < 1,
    opacity: color.a,
  });
}

/** Returns the shape in the marker's own frame; `null` if the marker's type is not supported. */
function shapeOf(marker: Marker): Object3D | null {
  const { scale } = marker;
  switch (marker.type) {
    case 0:
      return arrowOf(marker);
    case 1:
      return new Mesh(new BoxGeometry(scale.x, scale.y, scale.z), solid(marker));
    case 2: {
      const sphere = new Mesh(new SphereGeometry(0.5, 20, 14), solid(marker));
      sphere.scale.set(scale.x, scale.y, scale.z);
      return sphere;
    }
    case 3: {
      const geometry = new CylinderGeometry(0.5, 0.5, 1, 24).rotateX(Math.PI / 2);
      const cylinder = new Mesh(geometry, solid(marker));
      cylinder.scale.set(scale.x, scale.y, scale.z);
      return cylinder;
    }
    case 4:
      return new Line(pointsOf(marker), lines(marker));
    case 5:
      return new LineSegments(pointsOf(marker), lines(marker));
    case 6:
      return manyOf(marker, new BoxGeometry(scale.x, scale.y, scale.z));
    case 7:
      return manyOf(marker, new SphereGeometry(0.5, 10, 8).scale(scale.x, scale.y, scale.z));
    case 8:
      return new Points(
        pointsOf(marker),
        new PointsMaterial({
          size: Math.max(scale.x, 1e-3),
          vertexColors: true,
        }),
      );
    case 9:
      return labelOf(
        marker.text,
        `#${colourOf(marker.color).getHexString()}`,
        scale.z || 0.2,
        false,
      );
    case 11: {
      const geometry = pointsOf(marker);
      geometry.computeVertexNormals();
      const material = new MeshLambertMaterial({ vertexColors: true, side: DoubleSide });
      return new Mesh(geometry, material);
    }
    default:
      return null;
  }
}

function lines(marker: Marker): LineBasicMaterial {
  return new LineBasicMaterial({
    vertexColors: true,
    transparent: marker.color.a < 1,
    opacity: marker.color.a || 1,
  });
}

/** Makes the points of a marker, each with its own colour or with the marker's colour. */
function pointsOf({ points, colors, color }: Marker): BufferGeometry {
  const count = Math.min(points.length, MOST_POINTS);
  const positions = new Float32Array(count * 3);
  const colours = new Float32Array(count * 3);
  for (let at = 0; at < count; at++) {
    const { x, y, z } = points[at]!;
    positions.set([x, y, z], at * 3);
    colourOf(colors.length === points.length ? colors[at]! : color).toArray(colours, at * 3);
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(positions, 3));
  geometry.setAttribute("color", new BufferAttribute(colours, 3));
  return geometry;
}

function manyOf(marker: Marker, geometry: BufferGeometry): InstancedMesh {
  const { points, colors, color } = marker;
  const count = Math.min(points.length, MOST_POINTS / 4);
  const mesh = new InstancedMesh(geometry, new MeshLambertMaterial(), count);
  for (let at = 0; at < count; at++) {
    const { x, y, z } = points[at]!;
    mesh.setMatrixAt(at, new Matrix4().makeTranslation(x, y, z));
    mesh.setColorAt(at, colourOf(colors.length === points.length ? colors[at]! : color));
  }
  return mesh;
}

/** Makes an arrow from one point to another, or along x with the length of the marker's scale. */
function arrowOf(marker: Marker): Object3D {
  const { points, scale } = marker;
  const hasEnds = points.length >= 2;
  const start = new Vector3(...(hasEnds ? spread(points[0]!) : [0, 0, 0]));
  const end = new Vector3(...(hasEnds ? spread(points[1]!) : [scale.x, 0, 0]));
  const length = start.distanceTo(end);
  const shaftWidth = hasEnds ? scale.x : scale.y;
  const headWidth = hasEnds ? scale.y : scale.y * 2;
  const headLength = Math.min(length, hasEnds && scale.z > 0 ? scale.z : length * 0.23);
  const shaftLength = Math.max(length - headLength, 1e-6);
  const material = solid(marker);
  const shaft = new Mesh(
    new CylinderGeometry(shaftWidth / 2, shaftWidth / 2, shaftLength, 16),
    material,
  );
  shaft.position.y = shaftLength / 2;
  const head = new Mesh(new ConeGeometry(headWidth / 2, headLength, 16), material);
  head.position.y = shaftLength + headLength / 2;
  const arrow = new Group();
  arrow.add(shaft, head);
  arrow.position.copy(start);
  const direction = end.sub(start).normalize();
  arrow.quaternion.copy(new Quaternion().setFromUnitVectors(new Vector3(0, 1, 0), direction));
  return arrow;
}

function spread({ x, y, z }: Xyz): [number, number, number] {
  return [x, y, z];
}
