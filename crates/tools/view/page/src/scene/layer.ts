// The common parts of all kinds of messages in the scene: objects that are each placed in a frame
// at some time.

import type { Object3D } from "three";

/** An object in a frame: where the frame was at `time` in seconds, or where it is now. */
export interface Placed {
  frame: string;
  time: number | null;
  object: Object3D;
}

export interface Layer {
  placed: Iterable<Placed>;
  /** A note to the user, for example on points that were left out. */
  note: string;
  /** Throws if the message is invalid. */
  update(value: unknown): void;
  /** Called before each picture, for objects that expire. */
  tick?(nowMs: number): void;
}

interface Disposable {
  dispose(): void;
}

/** Frees the graphics memory of an object and of all objects below it. */
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
