// The looks of transports: word, line and colour.

import type { Transport } from "../connection/protocol";

const TRANSPORTS: Record<Transport, { word: string; dash: string; width: number }> = {
  intraProcess: { word: "intra-process", dash: "", width: 3 },
  sharedMemory: { word: "shared memory", dash: "", width: 1.5 },
  network: { word: "network", dash: "7 4", width: 1.5 },
  none: { word: "no transport", dash: "2 4", width: 1.5 },
};

/** Returns the look of a transport; an unknown one, perhaps of a newer server, is like `none`. */
export function lookOf(transport: Transport | null): { word: string; dash: string; width: number } {
  const isKnown = transport !== null && Object.hasOwn(TRANSPORTS, transport);
  return isKnown ? TRANSPORTS[transport] : TRANSPORTS.none;
}

/** All transports, the shortest first; an edge with several is drawn like the last of them. */
export const ORDER: Transport[] = ["intraProcess", "sharedMemory", "network", "none"];
