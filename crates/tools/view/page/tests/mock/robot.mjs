// A system for the mock server: a robot that drives in a circle, with camera, lidar, map, logs,
// parameters, a lifecycle node, a container, a player and a recorder.

import { imageOf, OTHER_ENCODINGS, pngOf } from "./images.mjs";
import { cloudOf, gridOf, markersOf, pathOf, pose, scanOf, transformOf, turn } from "./places.mjs";
import { servicesOf } from "./robot_services.mjs";

const TOPICS = {
  "/odom": "nav_msgs/msg/Odometry",
  "/imu": "sensor_msgs/msg/Imu",
  "/joint_states": "sensor_msgs/msg/JointState",
  "/camera/image_raw": "sensor_msgs/msg/Image",
  "/camera/compressed": "sensor_msgs/msg/CompressedImage",
  "/scan": "sensor_msgs/msg/LaserScan",
  "/points": "sensor_msgs/msg/PointCloud2",
  "/map": "nav_msgs/msg/OccupancyGrid",
  "/plan": "nav_msgs/msg/Path",
  "/particles": "geometry_msgs/msg/PoseArray",
  "/goal_pose": "geometry_msgs/msg/PoseStamped",
  "/markers": "visualization_msgs/msg/MarkerArray",
  "/tf": "tf2_msgs/msg/TFMessage",
  "/tf_static": "tf2_msgs/msg/TFMessage",
  "/cmd_vel": "geometry_msgs/msg/Twist",
  "/chatter": "std_msgs/msg/String",
  "/rosout": "rcl_interfaces/msg/Log",
  "/filter/transition_event": "lifecycle_msgs/msg/TransitionEvent",
  ...Object.fromEntries(
    OTHER_ENCODINGS.map((each) => [`/images/${each}`, "sensor_msgs/msg/Image"]),
  ),
};

const NODES = [
  "/camera",
  "/lidar",
  "/localization",
  "/planner",
  "/controller",
  "/base_driver",
  "/filter",
  "/container",
  "/rosbag2_player",
  "/rosbag2_recorder",
  "/teleop",
];

/** Each entry: topic, publisher, subscription, transport, and the reason for the transport. */
const EDGES = [
  ["/camera/image_raw", "/camera", "/filter", "intraProcess", null],
  ["/camera/image_raw", "/camera", "/rosbag2_recorder", "sharedMemory", null],
  ["/scan", "/lidar", "/localization", "sharedMemory", null],
  ["/points", "/lidar", "/planner", "network", "the subscription is of stock ROS 2"],
  ["/odom", "/base_driver", "/localization", "sharedMemory", null],
  ["/odom", "/base_driver", "/controller", "sharedMemory", null],
  ["/map", "/localization", "/planner", "sharedMemory", null],
  ["/plan", "/planner", "/controller", "intraProcess", null],
  ["/cmd_vel", "/controller", "/base_driver", "network", "another host"],
];

/** The traced layers of the edge from the camera to the filter in the same process. */
const LAYERS = [
  ["client", 4_100, 9_800],
  ["engine write", 2_300, 5_200],
  ["notification", 31_000, 88_000],
  ["queue", 18_400, 240_000],
  ["take", 1_900, 4_400],
  ["dispatch", 900, 2_100],
];

function layersOf(topic, subscription) {
  if (topic !== "/camera/image_raw" || subscription !== "/filter") return null;
  const whole = LAYERS.reduce((sum, [, p50]) => sum + p50, 0);
  return {
    messages: 300,
    endToEndNanos: { p50: whole, p99: 330_000 },
    layers: LAYERS.map(([name, p50, p99]) => ({ name, nanos: { p50, p99 }, share: p50 / whole })),
  };
}

export function stampOf(seconds) {
  return { sec: Math.floor(seconds), nanosec: Math.round((seconds % 1) * 1e9) };
}

function figuresOf(measured, traces) {
  const topics = Object.keys(TOPICS).map((name) => {
    const edges = EDGES.filter(([topic]) => topic === name);
    const transports = { intraProcess: 0, sharedMemory: 0, network: 0, none: 0 };
    for (const [, , , transport] of edges) transports[transport] += 1;
    const isMeasured = measured.has(name);
    const isImage = name.includes("image");
    const isBroken = name === "/cmd_vel";
    const mismatches = isBroken
      ? [
          {
            publisher: "/teleop",
            subscription: "/base_driver",
            problem: "the publisher is best effort, the subscription wants reliable",
            cure: "Let /teleop publish reliably, or let /base_driver request best effort.",
          },
        ]
      : [];
    return {
      name,
      types: [TOPICS[name]],
      publishers: new Set(edges.map(([, publisher]) => publisher)).size + (isBroken ? 1 : 0),
      subscriptions: edges.length,
      transports,
      mismatches,
      rateHz: isMeasured ? (isImage ? 30 : 20) : null,
      bytesPerSecond: isMeasured ? (isImage ? 27_648_000 : 14_400) : null,
      sizeBytes: isMeasured ? (isImage ? 921_600 : 720) : null,
      ageNanos: isMeasured ? { p50: 84_000, p99: 412_000 } : null,
      lost: isMeasured ? (name === "/points" ? 3 : 0) : null,
    };
  });
  return {
    timeNanos: String(BigInt(Date.now()) * 1_000_000n),
    host: "mock",
    topics,
    edges: EDGES.map(([topic, publisher, subscription, transport, why]) => ({
      topic,
      publisher,
      subscription,
      transport,
      why,
      reliability: "reliable",
      durability: topic === "/map" ? "transient_local" : "volatile",
      layers: traces && measured.has(topic) ? layersOf(topic, subscription) : null,
    })),
    traces: traces && { ...traces, programs: measured.size > 0 ? 2 : null },
    nodes: NODES.map((name, at) => ({
      name,
      pid: name === "/base_driver" ? null : 4000 + at,
      cpu: 0.013 * (at + 1),
      pssBytes: 9_000_000 + at * 1_234_567,
      isLifecycle: name === "/filter",
      isContainer: name === "/container",
      distribution: name === "/base_driver" ? "Jazzy or Kilted" : "Feros",
    })),
    distributions: [
      { name: "Feros", participants: NODES.length - 1, libraries: ["Cyclone DDS 11.0.1"] },
      { name: "Jazzy or Kilted", participants: 1, libraries: ["Cyclone DDS 0.10.5"] },
      { name: "unknown", participants: 1, libraries: [] },
    ],
    distributionAdvice: [
      { text: "9 participants of Feros (Cyclone DDS 11.0.1): /camera", cure: null },
      {
        text: "1 participant of Humble (Fast DDS before 3.0): /arm; Humble cannot read Feros",
        cure: "export FEROS_ROS_DISTRO=humble for this shell",
      },
    ],
    services: [
      {
        name: "/clear_map",
        type: "std_srvs/srv/Empty",
        servers: ["/localization"],
        clients: ["/planner"],
      },
      {
        name: "/planner/list_parameters",
        type: "rcl_interfaces/srv/ListParameters",
        servers: ["/planner"],
        clients: [],
      },
    ],
    actions: [
      {
        name: "/follow_path",
        type: "nav2_msgs/action/FollowPath",
        servers: ["/controller"],
        clients: ["/planner"],
      },
    ],
    connections: { count: 1, sentBytesPerSecond: 250_000, droppedMessages: 0, leftOutMessages: 12 },
  };
}

function parametersOf(bag) {
  const parameters = [
    { name: "/camera.exposure", value: 12.5, type: "float64" },
    { name: "/camera.frame_id", value: "camera_link" },
    { name: "/camera.auto_white_balance", value: true },
    { name: "/camera.size", value: [640, 480] },
    { name: "/planner.max_plans", value: 4 },
    { name: "/planner.costs.gain", value: 0.75, type: "float64" },
    { name: "/rosbag2_player.bag.start_time_nanos", value: Number(bag.start) },
    { name: "/rosbag2_player.bag.end_time_nanos", value: Number(bag.end) },
  ];
  return new Map(parameters.map((each) => [each.name, each]));
}

export class Robot {
  topics = TOPICS;
  bag = {
    start: 1_700_000_000_000_000_000n,
    end: 1_700_000_060_000_000_000n,
    at: 0n,
    rate: 1,
    isPaused: false,
  };
  isRecording = true;
  looksForTopics = true;
  lifecycle = { id: 1, label: "unconfigured" };
  components = new Map([[1n, "/talker"]]);
  findings = [
    { area: "shared memory", level: "ok", text: "/dev/shm has 12 GB free.", cure: null },
    {
      area: "network",
      level: "warning",
      text: "The receive buffer has 212992 bytes.",
      cure: "sysctl -w net.core.rmem_max=2147483647",
    },
    {
      area: "discovery",
      level: "error",
      text: "Multicast does not come back on lo.",
      cure: "ip link set lo multicast on",
    },
  ];
  timers = [];
  seconds = 0;
  /** The folder of the server's traces; `null` if it reads none. */
  traces = { folder: "/tmp/trace", problems: [] };

  constructor() {
    this.bag.at = this.bag.start;
    this.parameters = parametersOf(this.bag);
    this.services = servicesOf(this);
    const laser = transformOf(0, "base_link", "laser", pose(0.3, 0, 0.2, 0));
    const camera = transformOf(0, "base_link", "camera_link", pose(0.2, 0, 0.5, 0));
    this.latched = { "/tf_static": [{ transforms: [laser, camera] }], "/map": [gridOf(0)] };
  }

  /** Sets a parameter; returns the reason if the node refuses the value. */
  setParameter({ name, value }) {
    const parameter = this.parameters.get(name);
    // A node refuses a value outside of the range, and keeps the present value.
    if (name === "/camera.exposure" && value > 100) return "the value is above 100";
    this.parameters.set(name, { ...parameter, value });
    return null;
  }

  graph() {
    const topics = [...new Set(EDGES.map(([topic]) => topic))];
    const edges = EDGES.filter(([, , node]) => this.isRecording || node !== "/rosbag2_recorder");
    const ids = (at) =>
      topics.map((name) => [
        name,
        [...new Set(edges.filter(([topic]) => topic === name).map((each) => each[at]))],
      ]);
    return {
      publishedTopics: ids(1).map(([name, publisherIds]) => ({ name, publisherIds })),
      subscribedTopics: ids(2).map(([name, subscriberIds]) => ({ name, subscriberIds })),
      advertisedServices: [],
      removedTopics: [],
      removedServices: [],
    };
  }

  figures(measured) {
    return figuresOf(measured, this.traces);
  }

  /** Publishes until the robot is stopped. */
  start(server, timesFaster = 1) {
    this.server = server;
    const every = (ms, act) => this.timers.push(setInterval(act, ms / timesFaster));
    every(50, () => this.drive());
    every(100, () => this.look());
    every(500, () => this.think());
  }

  stop() {
    this.timers.forEach(clearInterval);
  }

  drive() {
    this.seconds += 0.05;
    const { server, seconds } = this;
    const stamp = stampOf(Date.now() / 1000);
    const angle = seconds * 0.4;
    const place = pose(2 * Math.cos(angle), 2 * Math.sin(angle), 0, angle + Math.PI / 2);
    const header = { stamp, frame_id: "odom" };
    const twist = { linear: { x: 0.8, y: 0, z: 0 }, angular: { x: 0, y: 0, z: 0.4 } };
    const covariance = new Float64Array(36);
    server.publish("/odom", {
      header,
      child_frame_id: "base_link",
      pose: { pose: place, covariance },
      twist: { twist, covariance },
    });
    server.publish("/tf", {
      transforms: [
        transformOf(Date.now() / 1000, "map", "odom", pose(0.1, 0, 0, 0.02)),
        transformOf(Date.now() / 1000, "odom", "base_link", place),
      ],
    });
    server.publish("/cmd_vel", twist);
    server.publish("/imu", {
      header: { stamp, frame_id: "base_link" },
      orientation: turn(angle),
      angular_velocity: { x: 0, y: 0, z: 0.4 },
      linear_acceleration: { x: Math.sin(seconds * 3), y: Math.cos(seconds * 2), z: 9.81 },
    });
    server.publish("/joint_states", {
      header,
      name: ["left", "right"],
      position: [seconds % 6.28, (seconds * 1.2) % 6.28],
      velocity: [1, 1.2],
      effort: [],
    });
    if (this.bag.isPaused) return;
    this.bag.at += BigInt(Math.round(50_000_000 * this.bag.rate));
    if (this.bag.at > this.bag.end) this.bag.at = this.bag.start;
    server.tellTime(this.bag.at);
  }

  look() {
    const { server, seconds } = this;
    const now = Date.now() / 1000;
    const at = (frame_id) => ({ stamp: stampOf(now), frame_id });
    const shift = Math.round(seconds * 10);
    server.publish("/camera/image_raw", { header: at("camera_link"), ...imageOf("rgb8", shift) });
    for (const each of OTHER_ENCODINGS) {
      server.publish(`/images/${each}`, { header: at("camera_link"), ...imageOf(each) });
    }
    server.publish("/camera/compressed", {
      header: at("camera_link"),
      format: "png",
      data: new Uint8Array(pngOf()),
    });
    server.publish("/scan", scanOf(at("laser")));
    server.publish("/points", cloudOf(at("laser"), seconds));
  }

  think() {
    const { server, seconds } = this;
    const header = { stamp: stampOf(Date.now() / 1000), frame_id: "map" };
    server.publish("/plan", pathOf(header));
    server.publish("/particles", {
      header,
      poses: [0, 1, 2, 3, 4].map((each) => pose(-2 + each * 0.3, -2, 0, each)),
    });
    server.publish("/goal_pose", { header, pose: pose(3, 3, 0, 0.8) });
    server.publish("/markers", markersOf(header));
    server.publish("/chatter", { data: `hello ${seconds.toFixed(1)}` });
    const level = [10, 20, 20, 30, 40][Math.floor(seconds * 2) % 5];
    server.publish("/rosout", {
      stamp: header.stamp,
      level,
      name: ["camera", "planner"][Math.floor(seconds) % 2],
      msg: `Turn at ${seconds.toFixed(1)} s`,
      file: "drive.rs",
      function: "turn",
      line: 42,
    });
  }
}
