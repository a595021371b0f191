// Lists the topics of the running system, as the server advertises them.
"use strict";

const channels = new Map();
const state = document.getElementById("state");
const address = new URL("/" + location.search, location.href);
address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
const socket = new WebSocket(address, "feros.view.v1");

socket.onopen = () => { state.textContent = "connected"; };
socket.onclose = () => { state.textContent = "the server has ended the connection"; };
socket.onmessage = (event) => {
  if (typeof event.data !== "string") return;
  const operation = JSON.parse(event.data);
  if (operation.op === "advertise") {
    for (const channel of operation.channels) channels.set(channel.id, channel);
  } else if (operation.op === "unadvertise") {
    for (const id of operation.channelIds) channels.delete(id);
  } else {
    return;
  }
  const rows = [...channels.values()].sort((a, b) => a.topic.localeCompare(b.topic));
  document.getElementById("topics").replaceChildren(...rows.map((channel) => {
    const row = document.createElement("tr");
    for (const text of [channel.topic, channel.schemaName]) {
      row.insertCell().textContent = text;
    }
    return row;
  }));
};
