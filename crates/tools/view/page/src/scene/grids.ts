// Occupancy grids: one texture on the ground, with unknown cells distinct from free and occupied
// ones.

import {
  DataTexture,
  DoubleSide,
  Group,
  Mesh,
  MeshBasicMaterial,
  NearestFilter,
  PlaneGeometry,
} from "three";
import { free, type Layer, type Placed } from "./layer";
import { frameName, type Header, matrixOf, type Pose } from "./transforms";

const MOST_CELLS = 16 * 1024 * 1024;

interface OccupancyGrid {
  header: Header;
  info: { resolution: number; width: number; height: number; origin: Pose };
  data: Int8Array;
}

export class GridLayer implements Layer {
  note = "";
  private readonly group = new Group();
  private readonly place: Placed = { frame: "", time: null, object: this.group };
  readonly placed = [this.place];

  update(value: unknown): void {
    const { header, info, data } = value as OccupancyGrid;
    const { width, height, resolution } = info;
    const cells = width * height;
    if (cells === 0 || cells > MOST_CELLS || data.length < cells) {
      throw new Error(
        `A grid of ${width}×${height} cells with ${data.length} values cannot be shown.`,
      );
    }
    const colours = new Uint8Array(cells * 4);
    for (let at = 0; at < cells; at++) {
      const cell = data[at]!;
      const isKnown = cell >= 0 && cell <= 100;
      const light = isKnown ? 245 - cell * 2.3 : 128;
      colours.set(
        [light, isKnown ? light : 140, isKnown ? light : 135, isKnown ? 255 : 140],
        at * 4,
      );
    }
    const texture = new DataTexture(colours, width, height);
    texture.magFilter = NearestFilter;
    texture.needsUpdate = true;
    const material = new MeshBasicMaterial({ map: texture, transparent: true, side: DoubleSide });
    material.depthWrite = false;
    const plane = new Mesh(new PlaneGeometry(width * resolution, height * resolution), material);
    plane.position.set((width * resolution) / 2, (height * resolution) / 2, -0.01);
    plane.renderOrder = -1;
    for (const old of [...this.group.children]) free(old);
    const origin = new Group();
    origin.applyMatrix4(matrixOf(info.origin));
    origin.add(plane);
    this.group.add(origin);
    this.note = `${width}×${height} cells of ${resolution.toFixed(3)} m`;
    this.place.frame = frameName(header.frame_id);
  }
}
