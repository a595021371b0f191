// Modules without a browser: pixels, paths of fields, lines of plots, transforms, parameters.

import assert from "node:assert/strict";
import { test } from "node:test";
import { messageSchema } from "./mock/definitions.mjs";
import { ENCODINGS, HEIGHT, imageOf, seenAt, WIDTH } from "./mock/images.mjs";
import { pose, transformOf } from "./mock/places.mjs";
import { load } from "./source.mjs";

test("every pixel of every encoding has the colour that was sent", async () => {
  const { toPixels } = await load("messages/image_pixels.ts");
  for (const encoding of ENCODINGS) {
    const { rgba } = toPixels(imageOf(encoding));
    for (let y = 0; y < HEIGHT; y++) {
      for (let x = 0; x < WIDTH; x++) {
        const at = (y * WIDTH + x) * 4;
        const seen = [...rgba.subarray(at, at + 3)];
        seenAt(encoding, x, y).forEach((value, channel) => {
          assert.ok(
            Math.abs(seen[channel] - value) <= 1,
            `${encoding} at ${x} ${y}: ${seen}, not ${seenAt(encoding, x, y)}`,
          );
        });
      }
    }
  }
});

test("images with a wrong size are refused with the numbers", async () => {
  const { toPixels } = await load("messages/image_pixels.ts");
  const image = imageOf("rgb8");
  const refused = (change, words) => assert.throws(() => toPixels({ ...image, ...change }), words);
  refused({ height: 100_000 }, /has \d+ bytes, but its size and step need \d+/);
  refused({ width: 100_000, height: 100_000 }, /at most \d+ are shown/);
  refused({ step: 3 }, /step/);
  refused({ encoding: "constructor" }, /is not supported/);
  refused({ width: 0 }, /0×48/);
});

test("paths lead to numbers, and other texts are refused", async () => {
  const { asNumber, numericFields, parsePath, valueAt } = await load("decode/fields.ts");
  const { topic, steps } = parsePath("/arm/joints.position[2]");
  assert.equal(topic, "/arm/joints");
  assert.deepEqual(steps, ["position", 2]);
  assert.equal(asNumber(valueAt({ position: new Float64Array([1, 2, 3]) }, steps)), 3);
  assert.equal(asNumber(valueAt({ position: null }, steps)), null);
  assert.equal(asNumber({ sec: 2, nanosec: 500_000_000 }), 2.5);
  assert.equal(asNumber(12n), 12);
  for (const text of ["", "/a", "a.b", "/a.", "/a.b[", "/a.b c", "/a.b[-1]"]) {
    assert.equal(parsePath(text), null, text);
  }
  const { Codec } = await load("decode/codec.ts");
  const fields = numericFields(new Codec(messageSchema("nav_msgs/msg/Odometry")).definitions, 99);
  assert.ok(fields.includes(".pose.pose.position.x"), fields.join());
  assert.ok(fields.includes(".pose.covariance[0]"));
});

test("a line keeps its window, is bounded, and starts again when time goes back", async () => {
  const { Series } = await load("messages/series.ts");
  const series = new Series();
  for (let at = 0; at < 1000; at++) series.push(at / 10, at, 5);
  const [times, values] = series.columns(99.9);
  assert.ok(series.count >= 51 && series.count <= 53, String(series.count));
  assert.ok(Math.abs(times.at(-1)) < 1e-9 && values.at(-1) === 999);
  for (let at = 0; at < 30_000; at++) series.push(100 + at / 1e6, at, 5);
  assert.equal(series.count, 10_000);
  series.push(1, 7, 5);
  assert.deepEqual(series.columns(1), [[0], [7]]);
  series.push(2, NaN, 5);
  assert.deepEqual(series.columns(2)[1], [7, null]);
});

test("transforms connect frames at a time, but not unrelated frames", async () => {
  const { Transforms } = await load("scene/transforms.ts");
  const transforms = new Transforms();
  transforms.add(transformOf(0, "base", "lidar", pose(0, 0, 1, 0)), true);
  transforms.add(transformOf(10, "odom", "base", pose(0, 0, 0, 0)), false);
  transforms.add(transformOf(11, "odom", "base", pose(4, 0, 0, 0)), false);
  const place = (target, source, time) => {
    const matrix = transforms.lookup(target, source, time);
    return matrix && matrix.elements.slice(12, 15).map((each) => Math.round(each * 1e6) / 1e6);
  };
  assert.deepEqual(place("odom", "lidar", 10.25), [1, 0, 1]);
  assert.deepEqual(place("odom", "lidar", null), [4, 0, 1]);
  assert.deepEqual(
    place("lidar", "odom", 99).map((each) => each + 0),
    [-4, 0, -1],
  );
  assert.equal(place("odom", "elsewhere", null), null);
  // A lookup through a cycle of parents ends instead of looping forever.
  transforms.add(transformOf(12, "lidar", "odom", pose(0, 0, 0, 0)), false);
  assert.ok(transforms.rootOf("base").length > 0);
  transforms.lookup("odom", "elsewhere", null);
  transforms.add(transformOf(12, "odom", "bad", pose(NaN, 0, 0, 0)), false);
  assert.ok(!transforms.names().includes("bad"));
});

/** CDR of texts: each has its length with the NUL, and begins at a multiple of four bytes. */
function cdrOf(...texts) {
  const parts = texts.map((text) => {
    const bytes = Buffer.from(text);
    const part = Buffer.alloc(4 + bytes.length + 1);
    part.writeUInt32LE(bytes.length + 1);
    bytes.copy(part, 4);
    return part;
  });
  const padded = parts.slice(0, -1).map((part) => [part, Buffer.alloc(-part.length & 3)]);
  return new Uint8Array(Buffer.concat([Buffer.from([0, 1, 0, 0]), ...padded.flat(), parts.at(-1)]));
}

test("texts of all letters are written with their length in bytes, and read again", async () => {
  const { Codec } = await load("decode/codec.ts");
  const codec = new Codec("string a\nstring b\nstring[2] c");
  const texts = ["Grüße", "温度", "🤖 e\u0301", "", "ASCII", "\u202e\u001b\u200b", "\ufeffשלום"];
  for (const a of texts) {
    for (const b of texts) {
      const value = { a, b, c: [b, a] };
      assert.deepEqual(codec.encode(value), cdrOf(a, b, b, a), `${a} and ${b}`);
      assert.deepEqual(codec.decode(codec.encode(value)), value);
    }
  }
  assert.throws(() => codec.encode({ a: "a\0b" }), /NUL/);
  const request = { a: "x".repeat(100_000) + "ü", b: "y", c: ["", ""] };
  assert.deepEqual(codec.decode(codec.encode(request)), request);
});

test("texts of other writers are read", async () => {
  const { Codec } = await load("decode/codec.ts");
  const codec = new Codec("string a\nuint8 b");
  const read = (...bytes) => codec.decode(new Uint8Array([0, 1, 0, 0, ...bytes]));
  assert.deepEqual(read(0, 0, 0, 0, 7), { a: "", b: 7 }, "a length of 0");
  assert.deepEqual(read(1, 0, 0, 0, 0, 7), { a: "", b: 7 });
  assert.deepEqual(read(2, 0, 0, 0, 0xc3, 0xbc, 7), { a: "ü", b: 7 }, "without the zero");
  assert.deepEqual(read(3, 0, 0, 0, 0xc3, 0xbc, 0, 7), { a: "ü", b: 7 });
  assert.deepEqual(read(4, 0, 0, 0, 97, 0, 98, 0, 7), { a: "a\0b", b: 7 }, "a NUL within");
  assert.deepEqual(read(3, 0, 0, 0, 97, 0xc3, 0, 7), { a: "a\ufffd", b: 7 }, "half a letter");
  assert.throws(() => read(200, 0, 0, 0, 97, 0, 7), RangeError);
  assert.throws(() => read(255, 255, 255, 255, 97, 0, 7), RangeError);
});

test("wide texts are read", async () => {
  const { Codec } = await load("decode/codec.ts");
  const inner = `${"=".repeat(80)}\nMSG: x/Inner\nwstring<=4 d`;
  const schema = `wstring a\nwstring[] b\nInner[1] c\n${inner}`;
  const units = (text) => [text.length, ...text.split("").map((each) => each.charCodeAt(0))];
  const words = [...units("aé😀"), 2, ...units(""), ...units("\ufeff温度"), ...units("ü")];
  const bytes = new Uint8Array([0, 1, 0, 0, ...new Uint8Array(Uint32Array.from(words).buffer)]);
  const wanted = { a: "aé😀", b: ["", "\ufeff温度"], c: [{ d: "ü" }] };
  assert.deepEqual(new Codec(schema).decode(bytes), wanted);
  const wrong = new Uint8Array([0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0]);
  assert.throws(() => new Codec("wstring a").decode(wrong), /more than 16 bits/);
});

test("texts become values of the parameter's type, or errors name the expected form", async () => {
  const { parseValue } = await load("parameters/editor.ts");
  const { splitName } = await load("connection/parameters.ts");
  assert.equal(parseValue("2.5", { name: "a", value: 1, type: "float64" }), 2.5);
  assert.equal(parseValue("3", { name: "a", value: 1 }), 3);
  assert.throws(() => parseValue("2.5", { name: "a", value: 1 }), /integer/);
  assert.throws(() => parseValue("", { name: "a", value: 1 }), /number/);
  assert.equal(parseValue("2", { name: "a", value: "text" }), "2");
  assert.deepEqual(parseValue("[1, 2]", { name: "a", value: [0] }), [1, 2]);
  assert.throws(() => parseValue("1", { name: "a", value: [0] }), /list/);
  assert.deepEqual(splitName("/ns/node.a.b"), ["/ns/node", "a.b"]);
});

test("frames that are too short or unknown are ignored", async () => {
  const { readFrame, writeRequest } = await load("connection/protocol.ts");
  assert.equal(readFrame(new ArrayBuffer(0)), null);
  assert.equal(readFrame(new Uint8Array([1, 0, 0, 0, 0, 0, 0, 0, 0, 0]).buffer), null);
  assert.equal(readFrame(new Uint8Array(20).fill(9).buffer), null);
  const lying = new Uint8Array(13);
  lying.set([3, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255]);
  assert.equal(readFrame(lying.buffer), null);
  assert.equal(writeRequest(1, 2, new Uint8Array([9])).length, 17);
});

test("the wait for a server that does not answer grows up to a limit", async (t) => {
  const { Socket } = await load("connection/socket.ts");
  const [asked, waits] = [[], []];
  t.mock.method(Math, "random", () => 0.5);
  t.mock.method(globalThis, "setTimeout", (act, ms) => waits.push({ act, ms }));
  globalThis.WebSocket = class {
    constructor() {
      asked.push(this);
    }
  };
  t.after(() => delete globalThis.WebSocket);
  const socket = new Socket("ws://localhost/", async () => "the server does not answer");
  const reasons = [];
  socket.changed.listen((state) => state.kind === "waiting" && reasons.push(state.reason));
  const refuse = async () => {
    asked.at(-1).onclose({ code: 1006, reason: "" });
    await Promise.resolve();
    waits.at(-1).act();
  };
  socket.connect();
  for (let at = 0; at < 7; at++) await refuse();
  const wanted = [500, 1000, 2000, 4000, 8000, 15_000, 15_000];
  assert.deepEqual(
    waits.map(({ ms }) => ms),
    wanted,
  );
  assert.equal(asked.length, 8);
  assert.equal(reasons[0], "the server does not answer");
  asked.at(-1).onopen();
  asked.at(-1).onclose({ code: 1001, reason: "" });
  assert.equal(reasons.at(-1), "the server has ended");
  assert.equal(waits.at(-1).ms, 500, "an answer sets the wait back");
});

test("the form of a component parameter determines its type", async () => {
  const { readLoadParameters } = await load("nodes/load_parameters.ts");
  const [plus, big, text] = readLoadParameters('a.b:=+5 c:=1e3 d:="x y"');
  assert.equal(plus.name, "a.b");
  assert.equal(plus.value.integer_value, 5n);
  assert.equal(big.value.double_value, 1000);
  assert.equal(text.value.string_value, "x y");
  assert.deepEqual(readLoadParameters("  "), []);
  for (const wrong of ["a=1", ":=1", "a:=", "9223372036854775808", "a:=9223372036854775808"]) {
    assert.throws(() => readLoadParameters(wrong), /name:=value|64 bits/, wrong);
  }
});

test("names in the scene that would cover each other are lifted", async () => {
  const { spread } = await load("scene/labels.ts");
  const label = (x, y) => ({ x, y, width: 60, height: 12 });
  const levels = spread([label(100, 50), label(100, 52), null, label(120, 40), label(300, 50)]);
  assert.deepEqual(levels, [0, 2, 0, 2, 0]);
  const many = spread(Array.from({ length: 10 }, () => label(0, 0)));
  assert.equal(new Set(many).size, 10);
});

test("lifted names have a line to their frame, and other names have no line", async () => {
  const { DISTANCE, leaders } = await load("scene/labels.ts");
  const label = { x: 0, y: 0, width: 60, height: 10 };
  assert.deepEqual(leaders([label, null, label], [0, 0, 2]), [0, 0, (2 + DISTANCE) * 10]);
});

test("unseen characters of others are escaped as the command escapes them", async () => {
  const { hasUnseen, lines, phrase, shown } = await load("shell/shown.ts");
  assert.equal(shown("/talker"), "/talker");
  assert.equal(shown("/a\u001b[2J\n"), "/a\\u{1b}[2J\\u{a}");
  assert.equal(lines("a\nb\tc\u0007\r").text, "a\nb\tc\\u{7}\\u{d}");
  assert.equal(shown("a\nb\u202e"), "a\\u{a}b\\u{202e}");
  const unseen = [
    0x61c, 0x200e, 0x200f, 0x2028, 0x202e, 0x2065, 0x2069, 0, 0x1f, 0x7f, 0x9f, 0xe0001,
  ];
  for (const code of unseen) {
    const character = String.fromCodePoint(code);
    assert.equal(shown(character), `\\u{${code.toString(16)}}`);
    assert.ok(hasUnseen(character) && hasUnseen(`a${character}`));
  }
  for (const code of [0x20, 0xa0, 0x61b, 0x200d, 0x2027, 0x202f, 0x2070, 0x5d0, 0x1f916]) {
    const character = String.fromCodePoint(code);
    assert.equal(shown(character), character);
    assert.ok(!hasUnseen(character));
  }
  assert.equal(phrase`${"/a"} → ${"/b\u2069"}: x`.text, "/a → /b\\u{2069}: x");
  assert.equal(phrase`${"/א"} → ${"/b"}`.text, "\u2068/א\u2069 → /b");
});

test("strings of messages are in quotation marks, and their values are unambiguous", async () => {
  const { leafText, lineOf } = await load("messages/values.ts");
  assert.equal(leafText('a"\\\n\u001b').text, '"a\\"\\\\\\n\\u{1b}"');
  assert.equal(leafText("\\u{1b}").text, '"\\\\u{1b}"');
  assert.equal(leafText(12n).text, "12");
  assert.equal(lineOf({ a: ["b", 1], c: "\u202e" }).text, '{a: ["b", 1], c: "\\u{202e}"}');
  assert.equal(lineOf(["א", 1]).text, '["א", 1]'.replace('"א"', '\u2068"א"\u2069'));
});

test("a rate of 0 is shown when it can be measured", async () => {
  const { LiveFigures, rateText } = await load("connection/live_figures.ts");
  const figures = new LiveFigures(() => undefined);
  const seen = (rateHz) => {
    const topic = { name: "/a", rateHz };
    figures.receive({ topics: [topic] });
    return rateText(topic);
  };
  assert.deepEqual([null, 0, 0, 0].map(seen), [null, "…", "…", "0.00 Hz"]);
  assert.deepEqual([null, 0, 9.5, 0].map(seen), [null, "…", "9.50 Hz", "0.00 Hz"]);
  figures.resume();
  assert.equal(seen(0), "…", "another server measures anew");
});

test("measured topics are asked for again, whatever their names are", async () => {
  const { LiveFigures } = await load("connection/live_figures.ts");
  const sent = [];
  const figures = new LiveFigures((text) => sent.push(text));
  figures.resume();
  assert.deepEqual(sent, []);
  const topics = ["/a b", "/b", "/\ud83e\udd16"];
  figures.measure(figures, topics);
  figures.measure(figures, topics);
  figures.resume();
  assert.deepEqual(sent, Array(2).fill({ op: "measureTopics", topics }));
});

test("shortened texts keep their letters whole", async () => {
  const { shortName } = await load("graph/arrange.ts");
  const { beginningOf } = await load("shell/shown.ts");
  assert.equal(shortName("🤖".repeat(40)), `…${"🤖".repeat(33)}`);
  assert.deepEqual(beginningOf("🤖"), { start: "🤖", rest: "" });
  const { start, rest } = beginningOf("x".repeat(12_000));
  assert.equal(start.length, 10_000);
  assert.equal(rest, " … 2000 more characters");
});

test("an empty graph says what to check", async () => {
  const { whyEmpty } = await load("graph/model.ts");
  const [own, other] = [{ name: "/_feros_view" }, { name: "/talker" }];
  assert.match(
    whyEmpty({ nodes: [own] }, { filter: " " }),
    /^No node was found yet.*ROS_DOMAIN_ID/,
  );
  assert.match(whyEmpty({ nodes: [own] }, { filter: "x" }), /Check the filter/);
  assert.match(whyEmpty({ nodes: [own, other] }, { filter: "" }), /Check the options/);
});
