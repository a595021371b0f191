// The latencies of an edge's messages by layer, as a bar and a table; without latencies, the
// instructions for getting them.

import type { EdgeFigures, EdgeLayers, Figures } from "../connection/protocol";
import { h, svg } from "../shell/dom";
import { nanoseconds } from "../shell/units";

const MOST_PAIRS = 8;
const WIDTH = 300;
const HEIGHT = 22;
/** The least width, in viewBox units, of a part of the bar that shows its number. */
const ROOM_FOR_NUMBER = 14;

/** Shows the layers of all pairs of publisher and subscription that an edge represents. */
export function layersOf(pairs: EdgeFigures[], figures: Figures): HTMLElement[] {
  if (pairs.length === 0) return [];
  const known = pairs.filter((pair) => pair.layers);
  const parts = known.slice(0, MOST_PAIRS).flatMap((pair) => layersOfPair(pair, pairs.length > 1));
  const left = known.length - MOST_PAIRS;
  if (left > 0) parts.push(h("p", { class: "dim" }, `${left} more pairs are not shown.`));
  const problems = figures.traces?.problems ?? [];
  return [
    h("h3", {}, "Latency by layer"),
    ...(parts.length === 0 ? [hint(figures)] : parts),
    ...problems.map((each) => h("p", { class: "problem" }, `⚠ ${each}`)),
  ];
}

function hint({ traces }: Figures): HTMLElement {
  const start = (folder: string): HTMLElement =>
    h("code", {}, `FEROS_TRACE=${folder} FEROS_TRACE_PERIOD=1s`);
  if (!traces) {
    return h(
      "p",
      { class: "dim" },
      "There are no traces. Start the programs with ",
      start("FOLDER"),
      " in their environment, and this view with ",
      h("code", {}, "feros view --traces FOLDER"),
      ".",
    );
  }
  if (traces.programs === null) {
    return h("p", { class: "dim" }, "The traces are not read: tick Measure.");
  }
  const count = traces.programs === 1 ? "1 program writes" : `${traces.programs} programs write`;
  return h(
    "p",
    { class: "dim" },
    `The traces have no recent message of this edge; ${count} traces. Start the programs of the ` +
      "publisher and the subscription with ",
    start(traces.folder),
    " in their environment.",
  );
}

function layersOfPair(pair: EdgeFigures, isOneOfMany: boolean): HTMLElement[] {
  const { layers } = pair;
  if (!layers) return [];
  const { messages, endToEndNanos } = layers;
  const count = messages === 1 ? "1 message" : `${messages} messages`;
  const whom = isOneOfMany ? `from ${pair.publisher}, ` : "";
  const table = h(
    "table",
    { class: "layers" },
    h("caption", {}, `${whom}${count} of the last seconds; the bar shows the shares of the layers`),
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        ...["#", "Layer", "Median", "p99", "Share"].map((each) => h("th", { scope: "col" }, each)),
      ),
    ),
    h(
      "tbody",
      {},
      ...layers.layers.map(({ name, nanos, share }, at) =>
        h(
          "tr",
          {},
          h("td", {}, h("span", { class: `key layer-${at % 2}` }, String(at + 1))),
          h("th", { scope: "row" }, name),
          h("td", {}, nanoseconds(nanos.p50)),
          h("td", {}, nanoseconds(nanos.p99)),
          h("td", {}, percent(share)),
        ),
      ),
    ),
    h(
      "tfoot",
      {},
      h(
        "tr",
        {},
        h("td", {}),
        h("th", { scope: "row" }, "end to end"),
        h("td", {}, nanoseconds(endToEndNanos.p50)),
        h("td", {}, nanoseconds(endToEndNanos.p99)),
        h("td", {}),
      ),
    ),
  );
  return [bar(layers), table];
}

/** Draws the layers as wide as their shares, alternately light and dark, with numbers. */
function bar({ layers }: EdgeLayers): HTMLElement {
  const words = layers.map(({ name, share }) => `${name} ${percent(share)}`).join(", ");
  const drawing = svg("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    preserveAspectRatio: "none",
    "aria-hidden": "true",
  });
  const numbers: HTMLElement[] = [];
  let x = 0;
  layers.forEach(({ name, share, nanos }, at) => {
    const width = Math.max(0, Math.min(share * WIDTH, WIDTH - x));
    const part = svg("rect", { x, y: 0, width, height: HEIGHT, class: `layer-${at % 2}` });
    part.append(svg("title", {}, `${at + 1} ${name}: median ${nanoseconds(nanos.p50)}`));
    drawing.append(part);
    if (width >= ROOM_FOR_NUMBER) {
      const middle = ((x + width / 2) / WIDTH) * 100;
      const style = `left: ${middle.toFixed(2)}%`;
      numbers.push(h("span", { class: `number on-${at % 2}`, style }, String(at + 1)));
    }
    x += width;
  });
  const element = h("div", { class: "layer-bar", role: "img", "aria-label": `Layers: ${words}` });
  element.append(drawing, ...numbers);
  return element;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;
}
