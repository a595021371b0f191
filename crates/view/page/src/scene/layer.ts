// What every kind of message is in the scene: objects, each in a frame at a time.

import type { Object3D } from "three";

/** An object that hangs in a frame; at `time` in seconds, or wherever the frame is now. */
export interface Placed {
  frame: string;
  time: number | null;
  object: Object3D;
}

export interface Layer {
  placed: Iterable<Placed>;
  /** What the user should know, as points that were left out. */
  note: string;
  /** Throws where the message makes no sense. */
  update(value: unknown): void;
  /** Told before each picture, for what ends by itself. */
  tick?(nowMs: number): void;
}

interface Disposable {
  dispose(): void;
}

/** Frees what the graphics card holds of an object and all below it. */
export function free(object: Object3D): void {
  object.traverse((each) => {
    const { geometry, material } = each as unknown as {
      geometry?: Disposable;
      material?: (Disposable & { map?: Disposable | null }) | Disposable[];
    };
    geometry?.dispose();
    if (Array.isArray(material)) material.forEach((one) => one.dispose());
    else {
      material?.map?.dispose();
      material?.dispose();
    }
  });
  object.removeFromParent();
}
