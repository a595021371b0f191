// The definitions of a message type, as the parser of schemas returns them.

import type { parse } from "@foxglove/rosmsg";

export type Definitions = ReturnType<typeof parse>;
