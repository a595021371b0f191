// Services of the robot: lifecycle, components, levels of loggers, player and recorder.

const STATES = { unconfigured: 1, inactive: 2, active: 3 };
const TRANSITIONS = [
  [1, "configure", "unconfigured", "inactive"],
  [2, "cleanup", "inactive", "unconfigured"],
  [3, "activate", "inactive", "active"],
  [4, "deactivate", "active", "inactive"],
];

function lifecycleOf(robot) {
  const state = (label) => ({ id: STATES[label], label });
  return {
    "/filter/get_state": {
      type: "lifecycle_msgs/srv/GetState",
      answer: () => ({ current_state: robot.lifecycle }),
    },
    "/filter/get_available_transitions": {
      type: "lifecycle_msgs/srv/GetAvailableTransitions",
      answer: () => ({
        available_transitions: TRANSITIONS.map(([id, label, start, goal]) => ({
          transition: { id, label },
          start_state: state(start),
          goal_state: state(goal),
        })),
      }),
    },
    "/filter/change_state": {
      type: "lifecycle_msgs/srv/ChangeState",
      answer: ({ transition }) => {
        const found = TRANSITIONS.find(
          ([id, , start]) => id === transition.id && start === robot.lifecycle.label,
        );
        if (found !== undefined) robot.lifecycle = state(found[3]);
        return { success: found !== undefined };
      },
    },
  };
}

function containerOf(robot) {
  let next = 2n;
  return {
    "/container/_container/list_nodes": {
      type: "composition_interfaces/srv/ListNodes",
      answer: () => ({
        full_node_names: [...robot.components.values()],
        unique_ids: BigUint64Array.from(robot.components.keys()),
      }),
    },
    "/container/_container/load_node": {
      type: "composition_interfaces/srv/LoadNode",
      answer: ({ plugin_name, node_name }) => {
        if (plugin_name !== "demo::Talker") {
          return {
            success: false,
            error_message: `no plugin ${plugin_name}`,
            full_node_name: "",
            unique_id: 0n,
          };
        }
        const name = `/${node_name || "talker"}`;
        robot.components.set(next, name);
        return { success: true, error_message: "", full_node_name: name, unique_id: next++ };
      },
    },
    "/container/_container/unload_node": {
      type: "composition_interfaces/srv/UnloadNode",
      answer: ({ unique_id }) => {
        const success = robot.components.delete(unique_id);
        return { success, error_message: success ? "" : "no such component" };
      },
    },
  };
}

function playerOf({ bag }) {
  const type = (name) => `rosbag2_interfaces/srv/${name}`;
  const pause = (isPaused) => () => {
    bag.isPaused = isPaused;
    return {};
  };
  return {
    "/rosbag2_player/pause": { type: type("Pause"), answer: pause(true) },
    "/rosbag2_player/resume": { type: type("Resume"), answer: pause(false) },
    "/rosbag2_player/is_paused": {
      type: type("IsPaused"),
      answer: () => ({ paused: bag.isPaused }),
    },
    "/rosbag2_player/get_rate": { type: type("GetRate"), answer: () => ({ rate: bag.rate }) },
    "/rosbag2_player/set_rate": {
      type: type("SetRate"),
      answer: ({ rate }) => {
        bag.rate = rate;
        return { success: true };
      },
    },
    "/rosbag2_player/play_next": {
      type: type("PlayNext"),
      answer: () => ({ success: bag.isPaused }),
    },
    "/rosbag2_player/seek": {
      type: type("Seek"),
      answer: ({ time }) => {
        bag.at = BigInt(time.sec) * 1_000_000_000n + BigInt(time.nanosec);
        return { success: true };
      },
    },
  };
}

function recorderOf(robot) {
  let isPaused = false;
  const run = (isRecording) => {
    robot.isRecording = isRecording;
    robot.server?.tell({ op: "connectionGraphUpdate", ...robot.graph() });
  };
  const type = (name) => `rosbag2_interfaces/srv/${name}`;
  const pause = (value) => () => {
    isPaused = value;
    return {};
  };
  return {
    "/rosbag2_recorder/pause": { type: type("Pause"), answer: pause(true) },
    "/rosbag2_recorder/resume": { type: type("Resume"), answer: pause(false) },
    "/rosbag2_recorder/is_paused": { type: type("IsPaused"), answer: () => ({ paused: isPaused }) },
    "/rosbag2_recorder/split_bagfile": { type: type("SplitBagfile"), answer: () => ({}) },
    "/rosbag2_recorder/is_discovery_running": {
      type: type("IsDiscoveryRunning"),
      answer: () => ({ running: robot.isRecording && robot.looksForTopics }),
    },
    "/rosbag2_recorder/stop": {
      type: type("Stop"),
      answer: () => {
        run(false);
        return {};
      },
    },
    "/rosbag2_recorder/record": {
      type: type("Record"),
      answer: ({ uri }) => {
        if (uri === "taken") return { return_code: 1, error_string: "the folder exists" };
        run(true);
        return { return_code: 0, error_string: "" };
      },
    },
  };
}

export function servicesOf(robot) {
  return {
    ...lifecycleOf(robot),
    ...containerOf(robot),
    ...playerOf(robot),
    ...recorderOf(robot),
    "/camera/set_logger_levels": {
      type: "rcl_interfaces/srv/SetLoggerLevels",
      answer: ({ levels }) => ({ results: levels.map(() => ({ successful: true, reason: "" })) }),
    },
    "/camera/describe_parameters": {
      type: "rcl_interfaces/srv/DescribeParameters",
      answer: ({ names }) => ({
        descriptors: names.map((name) => ({
          name,
          type: 0,
          description: name === "exposure" ? "Milliseconds per picture" : "",
          additional_constraints: "",
          read_only: name === "frame_id",
          dynamic_typing: false,
          integer_range: [],
          floating_point_range:
            name === "exposure" ? [{ from_value: 0, to_value: 100, step: 0 }] : [],
        })),
      }),
    },
    "/clear_map": { type: "std_srvs/srv/Empty", answer: () => ({}) },
  };
}
