// The points of clouds and scans, and their colours.

import { BufferAttribute, BufferGeometry, Points, PointsMaterial } from "three";
import type { Layer, Placed } from "./layer";
import { frameName, type Header, secondsOf } from "./transforms";

const MOST_POINTS = 500_000;

export const COLOURINGS = [
  ["auto", "Colour: automatic"],
  ["intensity", "Colour: intensity"],
  ["height", "Colour: height"],
  ["flat", "Colour: flat"],
] as const;
export type Colouring = (typeof COLOURINGS)[number][0];

interface PointField {
  name: string;
  offset: number;
  datatype: number;
}

interface PointCloud2 {
  header: Header;
  width: number;
  height: number;
  fields: PointField[];
  is_bigendian: boolean;
  point_step: number;
  row_step: number;
  data: Uint8Array;
}

interface LaserScan {
  header: Header;
  angle_min: number;
  angle_increment: number;
  range_min: number;
  range_max: number;
  ranges: Float32Array;
  intensities: Float32Array;
}

type Read = (view: DataView, at: number, isLittle: boolean) => number;

/** The readers of fields, by the constants of sensor_msgs/PointField. */
const READS: Record<number, { size: number; read: Read }> = {
  1: { size: 1, read: (view, at) => view.getInt8(at) },
  2: { size: 1, read: (view, at) => view.getUint8(at) },
  3: { size: 2, read: (view, at, isLittle) => view.getInt16(at, isLittle) },
  4: { size: 2, read: (view, at, isLittle) => view.getUint16(at, isLittle) },
  5: { size: 4, read: (view, at, isLittle) => view.getInt32(at, isLittle) },
  6: { size: 4, read: (view, at, isLittle) => view.getUint32(at, isLittle) },
  7: { size: 4, read: (view, at, isLittle) => view.getFloat32(at, isLittle) },
  8: { size: 8, read: (view, at, isLittle) => view.getFloat64(at, isLittle) },
};

/** Colours from dark blue to light yellow, which also differ in brightness. */
const RAMP = [
  [0.27, 0.0, 0.33],
  [0.23, 0.32, 0.55],
  [0.13, 0.57, 0.55],
  [0.37, 0.79, 0.38],
  [0.99, 0.91, 0.14],
] as const;

function ramp(part: number, into: Float32Array, at: number): void {
  const place = Math.min(Math.max(part, 0), 1) * (RAMP.length - 1);
  const low = Math.min(Math.floor(place), RAMP.length - 2);
  const [from, to] = [RAMP[low]!, RAMP[low + 1]!];
  for (let each = 0; each < 3; each++) {
    into[at + each] = from[each]! + (to[each]! - from[each]!) * (place - low);
  }
}

/** A set of points whose memory grows as needed and is reused. */
class PointSet {
  readonly object: Points<BufferGeometry, PointsMaterial>;
  positions = new Float32Array(0);
  colours = new Float32Array(0);

  constructor() {
    const material = new PointsMaterial({ size: 3, sizeAttenuation: false, vertexColors: true });
    this.object = new Points(new BufferGeometry(), material);
    this.object.frustumCulled = false;
  }

  reserve(count: number): void {
    if (this.positions.length >= count * 3) return;
    this.positions = new Float32Array(count * 3);
    this.colours = new Float32Array(count * 3);
    this.object.geometry.dispose();
    this.object.geometry = new BufferGeometry();
    this.object.geometry.setAttribute("position", new BufferAttribute(this.positions, 3));
    this.object.geometry.setAttribute("color", new BufferAttribute(this.colours, 3));
  }

  /** Colours the points by one number each, or by their own colours if `scalars` is `null`. */
  finish(count: number, scalars: Float32Array | null): void {
    if (scalars !== null) {
      let [low, high] = [Infinity, -Infinity];
      for (let at = 0; at < count; at++) {
        const value = scalars[at]!;
        if (value < low) low = value;
        if (value > high) high = value;
      }
      const span = high > low ? high - low : 1;
      for (let at = 0; at < count; at++) {
        ramp((scalars[at]! - low) / span, this.colours, at * 3);
      }
    }
    this.object.geometry.setDrawRange(0, count);
    for (const name of ["position", "color"]) {
      const attribute = this.object.geometry.getAttribute(name);
      if (attribute !== undefined) attribute.needsUpdate = true;
    }
  }
}

export class CloudLayer implements Layer {
  note = "";
  private readonly set = new PointSet();
  private readonly place: Placed = { frame: "", time: null, object: this.set.object };
  readonly placed = [this.place];

  constructor(private readonly colouring: () => Colouring) {}

  update(value: unknown): void {
    const cloud = value as PointCloud2;
    const count = cloud.width * cloud.height;
    const field = (name: string): PointField | undefined =>
      cloud.fields.find((each) => each.name === name);
    const [x, y, z] = [field("x"), field("y"), field("z")].map((each) => reader(each, cloud));
    if (!x || !y || !z) throw new Error("The point cloud lacks the field x, y or z.");
    const needed = (cloud.height - 1) * cloud.row_step + cloud.width * cloud.point_step;
    if (count > 0 && cloud.data.length < needed) {
      throw new Error(
        `The point cloud has ${cloud.data.length} bytes, but its size and steps need ${needed}.`,
      );
    }
    const stride = Math.max(1, Math.ceil(count / MOST_POINTS));
    const most = Math.ceil(count / stride);
    this.set.reserve(most);
    const { view, isLittle } = x;
    const colour = reader(field("rgb") ?? field("rgba"), cloud, 6);
    const intensity = reader(field("intensity") ?? field("i"), cloud);
    const wish = this.colouring();
    const isColoured = wish === "auto" && colour !== null;
    const byIntensity = !isColoured && (wish === "auto" || wish === "intensity") && intensity;
    const scalars = isColoured || wish === "flat" ? null : new Float32Array(most);
    const { positions, colours } = this.set;
    let to = 0;
    for (let index = 0; index < count; index += stride) {
      const row = Math.floor(index / cloud.width);
      const at = row * cloud.row_step + (index - row * cloud.width) * cloud.point_step;
      const [px, py, pz] = [
        x.read(view, at + x.offset, isLittle),
        y.read(view, at + y.offset, isLittle),
        z.read(view, at + z.offset, isLittle),
      ];
      if (!Number.isFinite(px + py + pz)) continue;
      positions[to * 3] = px;
      positions[to * 3 + 1] = py;
      positions[to * 3 + 2] = pz;
      if (scalars !== null) {
        const by = byIntensity ? byIntensity.read(view, at + byIntensity.offset, isLittle) : pz;
        scalars[to] = by;
      } else {
        const packed =
          colour !== null && wish === "auto"
            ? colour.read(view, at + colour.offset, isLittle)
            : 0xffb000;
        colours[to * 3] = ((packed >> 16) & 255) / 255;
        colours[to * 3 + 1] = ((packed >> 8) & 255) / 255;
        colours[to * 3 + 2] = (packed & 255) / 255;
      }
      to += 1;
    }
    this.set.finish(to, scalars);
    this.note = stride > 1 ? `1 of ${stride} points is shown` : "";
    this.place.frame = frameName(cloud.header.frame_id);
    this.place.time = secondsOf(cloud.header.stamp);
  }
}

interface FieldReader {
  view: DataView;
  isLittle: boolean;
  offset: number;
  read: Read;
}

/** Reads a field of each point; `datatype` overrides its type, since colours come as floats. */
function reader(
  field: PointField | undefined,
  cloud: PointCloud2,
  datatype?: number,
): FieldReader | null {
  const form = field === undefined ? undefined : READS[datatype ?? field.datatype];
  if (field === undefined || form === undefined) return null;
  if (field.offset + form.size > cloud.point_step) {
    throw new Error(
      `The field ${field.name} ends beyond the ${cloud.point_step} bytes of a point.`,
    );
  }
  const { buffer, byteOffset, byteLength } = cloud.data;
  const view = new DataView(buffer, byteOffset, byteLength);
  return { view, isLittle: !cloud.is_bigendian, offset: field.offset, read: form.read };
}

export class ScanLayer implements Layer {
  note = "";
  private readonly set = new PointSet();
  private readonly place: Placed = { frame: "", time: null, object: this.set.object };
  readonly placed = [this.place];

  constructor(private readonly colouring: () => Colouring) {}

  update(value: unknown): void {
    const scan = value as LaserScan;
    const most = Math.min(scan.ranges.length, MOST_POINTS);
    this.set.reserve(most);
    const hasIntensity = scan.intensities.length === scan.ranges.length;
    const wish = this.colouring();
    const scalars = wish === "intensity" && hasIntensity ? new Float32Array(most) : null;
    let to = 0;
    for (let at = 0; at < most; at++) {
      const range = scan.ranges[at]!;
      if (!(range >= scan.range_min && range <= scan.range_max)) continue;
      const angle = scan.angle_min + at * scan.angle_increment;
      this.set.positions.set([range * Math.cos(angle), range * Math.sin(angle), 0], to * 3);
      if (scalars !== null) scalars[to] = scan.intensities[at]!;
      else this.set.colours.set([0.93, 0.3, 0.2], to * 3);
      to += 1;
    }
    this.set.finish(to, scalars);
    this.place.frame = frameName(scan.header.frame_id);
    this.place.time = secondsOf(scan.header.stamp);
  }
}
