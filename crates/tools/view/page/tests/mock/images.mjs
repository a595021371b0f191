// Test pictures of every encoding: their messages, and the pixels that must appear.

import { deflateSync } from "node:zlib";

/** The encodings of images besides `rgb8`, the encoding of the camera. */
export const OTHER_ENCODINGS = [
  "bgr8",
  "rgba8",
  "bgra8",
  "mono8",
  "mono16",
  "16UC1",
  "32FC1",
  "yuv422",
  "yuv422_yuy2",
  "bayer_rggb8",
];

export const ENCODINGS = ["rgb8", ...OTHER_ENCODINGS];

export const WIDTH = 64;
export const HEIGHT = 48;

/** The colour of a pixel of the picture: gradients, and a white square that moves with `shift`. */
export function colourAt(x, y, shift = 0) {
  const isInSquare = (x + WIDTH - (shift % WIDTH)) % WIDTH < 12 && y > 16 && y < 32;
  return isInSquare ? [255, 255, 255] : [x * 4, y * 5, 128];
}

function image(encoding, bytesPerPixel, write, padding = 0) {
  const step = WIDTH * bytesPerPixel + padding;
  const data = new Uint8Array(step * HEIGHT);
  const view = new DataView(data.buffer);
  for (let y = 0; y < HEIGHT; y++) {
    for (let x = 0; x < WIDTH; x++) write(view, y * step + x * bytesPerPixel, x, y);
  }
  return { height: HEIGHT, width: WIDTH, encoding, is_bigendian: 0, step, data };
}

function channels(encoding, order, shift) {
  return image(
    encoding,
    order.length,
    (view, at, x, y) => {
      const colour = [...colourAt(x, y, shift), 255];
      order.forEach((channel, offset) => view.setUint8(at + offset, colour[channel]));
    },
    encoding === "rgb8" ? 5 : 0,
  );
}

export function imageOf(encoding, shift = 0) {
  switch (encoding) {
    case "rgb8":
      return channels(encoding, [0, 1, 2], shift);
    case "bgr8":
      return channels(encoding, [2, 1, 0], shift);
    case "rgba8":
      return channels(encoding, [0, 1, 2, 3], shift);
    case "bgra8":
      return channels(encoding, [2, 1, 0, 3], shift);
    case "mono8":
      return image(encoding, 1, (view, at, x) => view.setUint8(at, x * 4));
    case "mono16":
      return image(encoding, 2, (view, at, x) => view.setUint16(at, x * 4 * 257, true));
    case "16UC1":
      return image(encoding, 2, (view, at, x) => view.setUint16(at, 500 + x * 10, true));
    case "32FC1":
      return image(encoding, 4, (view, at, x) => view.setFloat32(at, x < 8 ? NaN : x / 10, true));
    case "yuv422":
      return image(encoding, 2, (view, at, x) => {
        view.setUint8(at, 128);
        view.setUint8(at + 1, 16 + x * 3);
      });
    case "yuv422_yuy2":
      return image(encoding, 2, (view, at, x) => {
        view.setUint8(at, 16 + x * 3);
        view.setUint8(at + 1, 128);
      });
    case "bayer_rggb8":
      return image(encoding, 1, (view, at, x, y) => {
        const channel = y % 2 === 0 ? (x % 2 === 0 ? 200 : 100) : x % 2 === 0 ? 100 : 50;
        view.setUint8(at, channel);
      });
    default:
      throw new Error(`no picture of ${encoding}`);
  }
}

/** The pixel that a reader must see at a position of `imageOf`. */
export function seenAt(encoding, x, y, shift = 0) {
  const grey = (value) => [value, value, value];
  switch (encoding) {
    case "rgb8":
    case "bgr8":
    case "rgba8":
    case "bgra8":
      return colourAt(x, y, shift);
    case "mono8":
    case "mono16":
      return grey(x * 4);
    case "16UC1":
      return grey(Math.round((x * 255) / 63));
    case "32FC1":
      return grey(x < 8 ? 0 : Math.round(((x - 8) * 255) / 55));
    case "yuv422":
    case "yuv422_yuy2":
      return grey(Math.min(255, Math.round(1.164 * x * 3)));
    case "bayer_rggb8":
      return [200, 100, 50];
    default:
      throw new Error(`no picture of ${encoding}`);
  }
}

function chunk(name, body) {
  const bytes = Buffer.alloc(12 + body.length);
  bytes.writeUInt32BE(body.length, 0);
  bytes.write(name, 4, "latin1");
  bytes.set(body, 8);
  bytes.writeUInt32BE(crc32(bytes.subarray(4, 8 + body.length)), 8 + body.length);
  return bytes;
}

function crc32(bytes) {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

/** The picture as a PNG file. */
export function pngOf() {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(WIDTH, 0);
  head.writeUInt32BE(HEIGHT, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const rows = Buffer.alloc(HEIGHT * (1 + WIDTH * 3));
  for (let y = 0; y < HEIGHT; y++) {
    for (let x = 0; x < WIDTH; x++) rows.set(colourAt(x, y), y * (1 + WIDTH * 3) + 1 + x * 3);
  }
  const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
  return Buffer.concat([
    signature,
    chunk("IHDR", head),
    chunk("IDAT", deflateSync(rows)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}
