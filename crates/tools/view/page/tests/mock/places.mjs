// Messages with positions: transforms, scans, clouds, grids, paths, markers.

export function turn(yaw) {
  return { x: 0, y: 0, z: Math.sin(yaw / 2), w: Math.cos(yaw / 2) };
}

export function pose(x, y, z, yaw) {
  return { position: { x, y, z }, orientation: turn(yaw) };
}

export function transformOf(seconds, parent, child, { position, orientation }) {
  const stamp = { sec: Math.floor(seconds), nanosec: Math.round((seconds % 1) * 1e9) };
  return {
    header: { stamp, frame_id: parent },
    child_frame_id: child,
    transform: { translation: position, rotation: orientation },
  };
}

export function scanOf(header) {
  const count = 360;
  const ranges = Float32Array.from({ length: count }, (_, at) =>
    at % 90 === 0 ? Infinity : 2.2 + 0.4 * Math.sin((at * Math.PI) / 30),
  );
  return {
    header,
    angle_min: -Math.PI,
    angle_max: Math.PI,
    angle_increment: (2 * Math.PI) / count,
    time_increment: 0,
    scan_time: 0.1,
    range_min: 0.1,
    range_max: 10,
    ranges,
    intensities: Float32Array.from(ranges, (_, at) => at),
  };
}

/** A wave of points, coloured by its height, as packed floats. */
export function cloudOf(header, seconds, side = 60) {
  const step = 16;
  const data = new Uint8Array(side * side * step);
  const view = new DataView(data.buffer);
  for (let row = 0; row < side; row++) {
    for (let column = 0; column < side; column++) {
      const at = (row * side + column) * step;
      const [x, y] = [(column / side - 0.5) * 4, (row / side - 0.5) * 4];
      view.setFloat32(at, x + 3, true);
      view.setFloat32(at + 4, y, true);
      view.setFloat32(at + 8, 0.3 * Math.sin(x * 3 + seconds) + 0.8, true);
      view.setUint32(at + 12, ((row * 4) << 16) | ((column * 4) << 8) | 160, true);
    }
  }
  const field = (name, offset) => ({ name, offset, datatype: 7, count: 1 });
  return {
    header,
    height: 1,
    width: side * side,
    is_bigendian: false,
    is_dense: true,
    fields: [field("x", 0), field("y", 4), field("z", 8), field("rgb", 12)],
    point_step: step,
    row_step: step * side * side,
    data,
  };
}

export function gridOf(seconds) {
  const side = 80;
  const data = Int8Array.from({ length: side * side }, (_, at) => {
    const [x, y] = [at % side, Math.floor(at / side)];
    if (x < 8 && y < 8) return -1;
    return x === 0 || y === 0 || x === side - 1 || y === side - 1 || (x > 50 && y > 60) ? 100 : 0;
  });
  const stamp = { sec: Math.floor(seconds), nanosec: 0 };
  return {
    header: { stamp, frame_id: "map" },
    info: {
      map_load_time: stamp,
      resolution: 0.1,
      width: side,
      height: side,
      origin: pose(-4, -4, 0, 0),
    },
    data,
  };
}

export function pathOf(header) {
  return {
    header,
    poses: Array.from({ length: 40 }, (_, at) => ({
      header,
      pose: pose(at / 13, Math.sin(at / 6), 0, 0),
    })),
  };
}

export function markersOf(header) {
  const marker = (id, type, at, scale, rest = {}) => ({
    header,
    ns: "shapes",
    id,
    type,
    action: 0,
    pose: pose(...at, 0),
    scale: { x: scale, y: scale, z: scale },
    color: { r: 0.9, g: 0.5, b: 0.1, a: 1 },
    lifetime: { sec: 0, nanosec: 0 },
    frame_locked: false,
    points: [],
    colors: [],
    text: "",
    ...rest,
  });
  const points = [0, 1, 2, 3].map((at) => ({ x: at * 0.3, y: (at % 2) * 0.3, z: 0 }));
  return {
    markers: [
      marker(0, 0, [-3, 2, 0.2], 0.6),
      marker(1, 1, [-3, 1, 0.2], 0.4),
      marker(2, 2, [-3, 0, 0.2], 0.4),
      marker(3, 3, [-3, -1, 0.2], 0.4),
      marker(4, 4, [-2, 2, 0.2], 0.05, { points }),
      marker(6, 6, [-2, 1, 0.2], 0.15, { points }),
      marker(7, 7, [-2, 0, 0.2], 0.15, { points }),
      marker(8, 8, [-2, -1, 0.2], 0.1, { points }),
      marker(9, 9, [-3, 3, 0.5], 0.4, { text: "dock" }),
    ],
  };
}
