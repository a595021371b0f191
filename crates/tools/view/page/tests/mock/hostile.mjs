// A robot of which every name and every text is hostile.

import { Robot } from "./robot.mjs";

/**
 * Characters that reorder others, that terminals obey, that end lines and texts of C, markup,
 * quotation marks, and characters without a width.
 */
export const EVIL =
  "ev\u202eil\u001b[31m\u009b2J\u0007\r\n\u0000\u2067\u200b\ufeff" +
  '<img class=evil src=x onerror="evil()">&amp;';
export const NAME = `/${EVIL}`;
/** A name without places at which it could be broken. */
export const LONG = "long".repeat(60);

const UNSEEN =
  /[\p{Cc}\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u2069\ufeff]/gu;

/** The text as the page shows it as one line, or with its line breaks if these are `kept`. */
export function seen(text, kept = "") {
  return text.replace(UNSEEN, (each) =>
    kept.includes(each) ? each : `\\u{${each.codePointAt(0).toString(16)}}`,
  );
}

/** The text as the page shows it as the value of a message. */
export function quoted(text) {
  const escapes = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };
  return `"${seen(text.replace(/["\\\n\r\t]/g, (each) => escapes[each] ?? `\\${each}`))}"`;
}

/** The value with all its texts replaced. */
function evilIn(value) {
  if (typeof value === "string") return EVIL;
  if (value === null || typeof value !== "object" || ArrayBuffer.isView(value)) return value;
  if (Array.isArray(value)) return value.map(evilIn);
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, evilIn(each)]));
}

const TYPES = {
  text: "std_msgs/msg/String",
  number: "std_msgs/msg/Float64",
  image: "sensor_msgs/msg/Image",
  compressed: "sensor_msgs/msg/CompressedImage",
  pose: "geometry_msgs/msg/PoseStamped",
  path: "nav_msgs/msg/Path",
  markers: "visualization_msgs/msg/MarkerArray",
};

export class Hostile extends Robot {
  topics = {
    ...this.topics,
    ...Object.fromEntries(Object.entries(TYPES).map(([key, type]) => [`${NAME}/${key}`, type])),
    [`/${LONG}`]: "std_msgs/msg/String",
  };
  findings = [EVIL, LONG].map((text) => ({
    area: text,
    level: "error",
    text: `text ${text}`,
    cure: `cure ${text}`,
  }));
  traces = { folder: EVIL, problems: [EVIL] };

  constructor() {
    super();
    for (const [name, value] of [
      // The page sends names to the node, and refuses to send NUL.
      [`${NAME}.${EVIL.replace("\0", "")}`, EVIL],
      [`${NAME}.line`, EVIL.replace("\r\n", "")],
      [`${NAME}.list`, [EVIL]],
      [`/${LONG}.${LONG}`, LONG],
    ]) {
      this.parameters.set(name, { name, value });
    }
    // Each service of the robot exists also with a hostile name, and with hostile answers.
    for (const [name, { type, answer }] of Object.entries(this.services)) {
      const rest = name.split("/").slice(2);
      if (rest.length === 0) continue;
      this.services[[NAME, ...rest].join("/")] = {
        type,
        answer: async (request) => evilIn(await answer(request)),
      };
    }
    const describing = this.services[`${NAME}/describe_parameters`];
    const describe = describing.answer;
    describing.answer = async (request) => {
      const { descriptors } = await describe(request);
      return { descriptors: descriptors.map((each, at) => ({ ...each, name: request.names[at] })) };
    };
    this.services[`${NAME}/split_bagfile`].answer = () => {
      throw new Error(EVIL);
    };
  }

  figures(measured) {
    const figures = super.figures(measured);
    const [node] = figures.nodes;
    const [edge] = figures.edges;
    const [topic] = figures.topics;
    const ends = { publisher: NAME, subscription: NAME };
    const nanos = { p50: 1000, p99: 2000 };
    const layers = { messages: 1, endToEndNanos: nanos, layers: [{ name: EVIL, nanos, share: 1 }] };
    const call = { type: EVIL, servers: [NAME], clients: [NAME, `/${LONG}`] };
    figures.host = EVIL;
    figures.distributions = [{ name: EVIL, participants: 2, libraries: [EVIL] }];
    figures.distributionAdvice = [{ text: EVIL, cure: EVIL }];
    for (const name of [NAME, `/${LONG}`]) {
      figures.nodes.push({ ...node, name, distribution: EVIL });
    }
    for (const name of Object.keys(this.topics).filter((each) => /^\/(ev|long)/.test(each))) {
      const mismatches = [{ ...ends, problem: EVIL, cure: EVIL }];
      figures.topics.push({ ...topic, name, types: [EVIL], mismatches });
    }
    const qos = { why: EVIL, reliability: EVIL, durability: EVIL };
    figures.edges.push({ ...edge, topic: `${NAME}/text`, ...ends, ...qos, layers });
    figures.services.push({ name: `${NAME}/service`, ...call });
    figures.actions.push({ name: `${NAME}/action`, ...call });
    return figures;
  }

  graph() {
    const graph = super.graph();
    graph.publishedTopics.push({ name: `/${LONG}`, publisherIds: [NAME] });
    graph.subscribedTopics.push({ name: `/${LONG}`, subscriberIds: [`/${LONG}`] });
    return graph;
  }
}
