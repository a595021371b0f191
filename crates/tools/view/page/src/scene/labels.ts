// Texts in the scene: each is a picture that always faces the camera.

import {
  CanvasTexture,
  CustomBlending,
  OneFactor,
  OneMinusSrcAlphaFactor,
  Sprite,
  SpriteMaterial,
} from "three";
import { shown } from "../shell/shown";

/** The height of letters in pictures; texts of a fixed size are about half as high on screen. */
const PIXELS = 48;
const FIXED_PIXELS = 26;
const LONGEST = 120;

export interface LabelBox {
  /** The middle of its lower edge. */
  x: number;
  y: number;
  width: number;
  height: number;
}

const HIGHEST = 20;

/** Returns the shift of each label, in label heights, so that it does not cover an earlier one. */
export function spread(labels: (LabelBox | null)[]): number[] {
  const placed: LabelBox[] = [];
  return labels.map((label) => {
    if (label === null) return 0;
    const lifted = (level: number): LabelBox => ({ ...label, y: label.y - level * label.height });
    let level = 0;
    while (level < HIGHEST && placed.some((other) => overlap(lifted(level), other))) level += 1;
    placed.push(lifted(level));
    return level;
  });
}

/** The distance between a point and the name below or above it, in label heights. */
export const DISTANCE = 0.35;

/** Returns the length, in pixels, of the line from each point up to its lifted label; 0: no line. */
export function leaders(labels: (LabelBox | null)[], levels: number[]): number[] {
  return labels.map((label, at) => {
    const level = levels[at] ?? 0;
    return label === null || level === 0 ? 0 : (level + DISTANCE) * label.height;
  });
}

function overlap(one: LabelBox, other: LabelBox): boolean {
  return (
    Math.abs(one.x - other.x) < (one.width + other.width) / 2 &&
    one.y > other.y - other.height &&
    other.y > one.y - one.height
  );
}

/**
 * `height` is in metres, or a fraction of the view with `isFixedSize`. A halo keeps the text
 * legible if the colours behind it vary.
 */
export function labelOf(
  text: string,
  colour: string,
  height: number,
  isFixedSize: boolean,
  halo: string | null = null,
): Sprite {
  const canvas = document.createElement("canvas");
  const words = shown(text.slice(0, LONGEST)).slice(0, LONGEST);
  const pixels = isFixedSize ? FIXED_PIXELS : PIXELS;
  const font = `${pixels}px system-ui, sans-serif`;
  const measure = canvas.getContext("2d");
  if (measure !== null) measure.font = font;
  canvas.width = Math.min(4096, Math.ceil(measure?.measureText(words).width ?? 100) + 16);
  canvas.height = Math.ceil(pixels * 1.4);
  const context = canvas.getContext("2d");
  if (context !== null) {
    context.font = font;
    context.fillStyle = colour;
    context.textBaseline = "middle";
    if (halo !== null) {
      context.strokeStyle = halo;
      context.lineWidth = pixels / 6;
      context.lineJoin = "round";
      context.strokeText(words, 8, canvas.height / 2);
    }
    context.fillText(words, 8, canvas.height / 2);
  }
  const texture = new CanvasTexture(canvas);
  // Without this, the black of transparent pixels would darken the edges of the letters.
  texture.premultiplyAlpha = true;
  const material = new SpriteMaterial({
    map: texture,
    transparent: true,
    blending: CustomBlending,
    blendSrc: OneFactor,
    blendDst: OneMinusSrcAlphaFactor,
    depthTest: false,
    sizeAttenuation: !isFixedSize,
  });
  const sprite = new Sprite(material);
  sprite.scale.set((height * canvas.width) / canvas.height, height, 1);
  sprite.renderOrder = 10;
  return sprite;
}
