// Converts the pixels of sensor_msgs/Image to the form of browsers: RGBA with one byte per channel,
// and rows without gaps.

export interface RawImage {
  width: number;
  height: number;
  encoding: string;
  is_bigendian: number;
  step: number;
  data: Uint8Array;
}

export interface Pixels {
  rgba: Uint8ClampedArray<ArrayBuffer>;
  /** The values that are shown as black and white, if the range of values was stretched. */
  range: [number, number] | null;
}

const MOST_PIXELS = 64 * 1024 * 1024;

type Write = (image: RawImage, rgba: Uint8ClampedArray<ArrayBuffer>) => [number, number] | null;

/** Copies channels at the given offsets of each pixel; an alpha of -1 is opaque. */
function interleaved(size: number, red: number, green: number, blue: number, alpha: number): Write {
  return ({ width, height, step, data }, rgba) => {
    for (let y = 0, to = 0; y < height; y++) {
      for (let x = 0, from = y * step; x < width; x++, from += size, to += 4) {
        rgba[to] = data[from + red]!;
        rgba[to + 1] = data[from + green]!;
        rgba[to + 2] = data[from + blue]!;
        rgba[to + 3] = alpha < 0 ? 255 : data[from + alpha]!;
      }
    }
    return null;
  };
}

type Read = (view: DataView, at: number, isLittle: boolean) => number;

const read16: Read = (view, at, isLittle) => view.getUint16(at, isLittle);
const readFloat: Read = (view, at, isLittle) => view.getFloat32(at, isLittle);

/** Reads one number per pixel, as grey from the least to the greatest, or within a fixed range. */
function single(size: number, read: Read, fixed: [number, number] | null): Write {
  return ({ width, height, step, data, is_bigendian }, rgba) => {
    const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
    const isLittle = is_bigendian === 0;
    let [low, high] = fixed ?? [Infinity, -Infinity];
    for (let y = 0; fixed === null && y < height; y++) {
      for (let x = 0; x < width; x++) {
        const value = read(view, y * step + x * size, isLittle);
        // Zero and values that are not finite mean "not measured" in depth images.
        if (value === 0 || !Number.isFinite(value)) continue;
        if (value < low) low = value;
        if (value > high) high = value;
      }
    }
    const isEmpty = low > high;
    const scale = high > low ? 255 / (high - low) : 0;
    for (let y = 0, to = 0; y < height; y++) {
      for (let x = 0; x < width; x++, to += 4) {
        const value = read(view, y * step + x * size, isLittle);
        const isMissing = fixed === null && (value === 0 || !Number.isFinite(value));
        rgba[to] = rgba[to + 1] = rgba[to + 2] = isMissing ? 0 : (value - low) * scale;
        rgba[to + 3] = 255;
      }
    }
    return fixed !== null || isEmpty ? null : [low, high];
  };
}

/** Reads two pixels from four bytes: BT.601 in video range, at these offsets of Y, U and V. */
function yuv422(y0: number, u: number, y1: number, v: number): Write {
  return ({ width, height, step, data }, rgba) => {
    for (let row = 0, to = 0; row < height; row++) {
      for (let x = 0; x < width; x++, to += 4) {
        const pair = row * step + (x >> 1) * 4;
        const luma = 1.164 * (data[pair + (x % 2 === 0 ? y0 : y1)]! - 16);
        const blue = data[pair + u]! - 128;
        const red = data[pair + v]! - 128;
        rgba[to] = luma + 1.596 * red;
        rgba[to + 1] = luma - 0.392 * blue - 0.813 * red;
        rgba[to + 2] = luma + 2.017 * blue;
        rgba[to + 3] = 255;
      }
    }
    return null;
  };
}

/** Reads the colours of a Bayer filter; each pixel gets the colours of its square of four. */
function bayer(pattern: string): Write {
  const red = pattern.indexOf("r");
  const blue = pattern.indexOf("b");
  const [green, greenToo] = [0, 1, 2, 3].filter((at) => pattern[at] === "g") as [number, number];
  return ({ width, height, step, data }, rgba) => {
    for (let y = 0, to = 0; y < height; y++) {
      for (let x = 0; x < width; x++, to += 4) {
        const top = Math.min(y - (y % 2), height - 2);
        const left = Math.min(x - (x % 2), width - 2);
        const at = (each: number): number => data[(top + (each >> 1)) * step + left + (each % 2)]!;
        rgba[to] = at(red);
        rgba[to + 1] = (at(green) + at(greenToo)) / 2;
        rgba[to + 2] = at(blue);
        rgba[to + 3] = 255;
      }
    }
    return null;
  };
}

const MONO: Write = interleaved(1, 0, 0, 0, -1);
const FORMATS = new Map<string, { bytesPerPixel: number; write: Write }>(
  Object.entries({
    rgb8: { bytesPerPixel: 3, write: interleaved(3, 0, 1, 2, -1) },
    bgr8: { bytesPerPixel: 3, write: interleaved(3, 2, 1, 0, -1) },
    "8UC3": { bytesPerPixel: 3, write: interleaved(3, 2, 1, 0, -1) },
    rgba8: { bytesPerPixel: 4, write: interleaved(4, 0, 1, 2, 3) },
    bgra8: { bytesPerPixel: 4, write: interleaved(4, 2, 1, 0, 3) },
    mono8: { bytesPerPixel: 1, write: MONO },
    "8UC1": { bytesPerPixel: 1, write: MONO },
    mono16: { bytesPerPixel: 2, write: single(2, read16, [0, 65_535]) },
    "16UC1": { bytesPerPixel: 2, write: single(2, read16, null) },
    "32FC1": { bytesPerPixel: 4, write: single(4, readFloat, null) },
    yuv422: { bytesPerPixel: 2, write: yuv422(1, 0, 3, 2) },
    uyvy: { bytesPerPixel: 2, write: yuv422(1, 0, 3, 2) },
    yuv422_yuy2: { bytesPerPixel: 2, write: yuv422(0, 1, 2, 3) },
    yuyv: { bytesPerPixel: 2, write: yuv422(0, 1, 2, 3) },
    bayer_rggb8: { bytesPerPixel: 1, write: bayer("rggb") },
    bayer_bggr8: { bytesPerPixel: 1, write: bayer("bggr") },
    bayer_gbrg8: { bytesPerPixel: 1, write: bayer("gbrg") },
    bayer_grbg8: { bytesPerPixel: 1, write: bayer("grbg") },
  }),
);

/** Converts an image; throws an `Error` that describes the problem of an invalid image. */
export function toPixels(image: RawImage): Pixels {
  const { width, height, step, encoding, data } = image;
  const format = FORMATS.get(encoding);
  if (format === undefined) {
    const known = [...FORMATS.keys()].join(", ");
    throw new Error(`The encoding ${encoding} is not supported. Supported encodings: ${known}.`);
  }
  if (width === 0 || height === 0) {
    throw new Error(`The image has no pixels: its size is ${width}×${height}.`);
  }
  if (width * height > MOST_PIXELS) {
    throw new Error(
      `The image has ${width}×${height} pixels, but at most ${MOST_PIXELS} are shown.`,
    );
  }
  if (encoding.startsWith("bayer") && (width < 2 || height < 2)) {
    throw new Error(`A Bayer image of ${width}×${height} pixels has no colours.`);
  }
  const row = format.bytesPerPixel * (encoding.includes("yu") ? width + (width % 2) : width);
  if (step < row) throw new Error(`A row has ${step} bytes (step), but ${encoding} needs ${row}.`);
  const needed = step * (height - 1) + row;
  if (data.length < needed) {
    throw new Error(`The image has ${data.length} bytes, but its size and step need ${needed}.`);
  }
  const rgba = new Uint8ClampedArray(width * height * 4);
  return { rgba, range: format.write(image, rgba) };
}
