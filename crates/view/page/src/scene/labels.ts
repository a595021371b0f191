// Words in the scene: a picture of the text that always faces the camera.

import { CanvasTexture, Sprite, SpriteMaterial } from "three";

const PIXELS = 48;
const LONGEST = 120;

/**
 * `height` is in metres, or, with `isFixedSize`, in parts of the view. A halo keeps words legible
 * where the ground varies.
 */
export function labelOf(
  text: string,
  colour: string,
  height: number,
  isFixedSize: boolean,
  halo: string | null = null,
): Sprite {
  const canvas = document.createElement("canvas");
  const words = text.slice(0, LONGEST);
  const font = `${PIXELS}px system-ui, sans-serif`;
  const measure = canvas.getContext("2d");
  if (measure !== null) measure.font = font;
  canvas.width = Math.min(4096, Math.ceil(measure?.measureText(words).width ?? 100) + 16);
  canvas.height = Math.ceil(PIXELS * 1.4);
  const context = canvas.getContext("2d");
  if (context !== null) {
    context.font = font;
    context.fillStyle = colour;
    context.textBaseline = "middle";
    if (halo !== null) {
      context.strokeStyle = halo;
      context.lineWidth = 8;
      context.lineJoin = "round";
      context.strokeText(words, 8, canvas.height / 2);
    }
    context.fillText(words, 8, canvas.height / 2);
  }
  const texture = new CanvasTexture(canvas);
  const material = new SpriteMaterial({
    map: texture,
    transparent: true,
    depthTest: false,
    sizeAttenuation: !isFixedSize,
  });
  const sprite = new Sprite(material);
  sprite.scale.set((height * canvas.width) / canvas.height, height, 1);
  sprite.renderOrder = 10;
  return sprite;
}
