// How transports are told apart: by word, by line and by colour.

import type { Transport } from "../connection/protocol";

const TRANSPORTS: Record<Transport, { word: string; dash: string; width: number }> = {
  intraProcess: { word: "intra-process", dash: "", width: 3 },
  sharedMemory: { word: "shared memory", dash: "", width: 1.5 },
  network: { word: "network", dash: "7 4", width: 1.5 },
  none: { word: "no transport", dash: "2 4", width: 1.5 },
};

/** How one is drawn; what a newer server may call otherwise is drawn as none. */
export function lookOf(transport: Transport | null): { word: string; dash: string; width: number } {
  const isKnown = transport !== null && Object.hasOwn(TRANSPORTS, transport);
  return isKnown ? TRANSPORTS[transport] : TRANSPORTS.none;
}

/** From the shortest to none at all; the last of several is what an edge is drawn as. */
export const ORDER: Transport[] = ["intraProcess", "sharedMemory", "network", "none"];
