// The interface of all displays of messages, and the displays that fit each type.

import type { RateOf } from "../connection/channels";
import type { Connection } from "../connection/connection";
import type { Part } from "../shell/layout";

export const KINDS = ["tree", "text", "plot", "image", "scene"] as const;
export type Kind = (typeof KINDS)[number];

export const KIND_NAMES: Record<Kind, string> = {
  tree: "Tree",
  text: "Text",
  plot: "Plot",
  image: "Image",
  scene: "3D",
};

export interface Panel {
  readonly kind: Kind;
  readonly element: HTMLElement;
  title(): string;
  /** The state that the address keeps. */
  state(): Part;
  dispose(): void;
}

export interface PanelContext {
  connection: Connection;
  /** Called when the state of a panel changed, so that the address follows. */
  changed: () => void;
  /** Plots a field, in the plot that was used last or in a new one. */
  plot: (path: string) => void;
}

/** `sensor_msgs/msg/Image` and `sensor_msgs/Image` are the same type. */
export function shortType(type: string): string {
  return type.replace("/msg/", "/");
}

const IMAGES = new Set(["sensor_msgs/Image", "sensor_msgs/CompressedImage"]);
export const SPATIAL = new Set([
  "sensor_msgs/PointCloud2",
  "sensor_msgs/LaserScan",
  "nav_msgs/OccupancyGrid",
  "nav_msgs/Path",
  "nav_msgs/Odometry",
  "geometry_msgs/PoseStamped",
  "geometry_msgs/PoseWithCovarianceStamped",
  "geometry_msgs/PoseArray",
  "visualization_msgs/Marker",
  "visualization_msgs/MarkerArray",
]);
/** The types whose numbers are more useful than an arrow in the 3D view. */
const POSES = new Set([
  "nav_msgs/Odometry",
  "geometry_msgs/PoseStamped",
  "geometry_msgs/PoseWithCovarianceStamped",
]);
const TEXTS = new Set(["std_msgs/String"]);

/** The displays that can show a type, the best one first. */
export function kindsFor(type: string): Kind[] {
  const short = shortType(type);
  if (IMAGES.has(short)) return ["image", "tree", "text"];
  if (POSES.has(short)) return ["tree", "plot", "scene", "text"];
  if (SPATIAL.has(short) || short === "tf2_msgs/TFMessage") return ["scene", "tree", "text"];
  if (TEXTS.has(short)) return ["text", "tree"];
  return ["tree", "plot", "text"];
}

/** Returns the rate of a display: lower for large messages, unlimited if it needs every message. */
export const rateFor: RateOf = ({ type }) => {
  const short = shortType(type);
  if (short.startsWith("visualization_msgs/Marker")) return null;
  return IMAGES.has(short) || short === "sensor_msgs/PointCloud2" ? 10 : 30;
};
