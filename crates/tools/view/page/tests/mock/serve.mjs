// Runs the mock server for people: `node tests/mock/serve.mjs [PORT]`, then open the address.

import { Robot } from "./robot.mjs";
import { MockServer } from "./server.mjs";

const robot = new Robot();
const server = new MockServer(robot);
console.log(await server.listen(Number(process.argv[2] ?? 8765)));
robot.start(server);
