// The start of the page: connects to the server from which the page came, and creates the panes.

import "./style/index.css";
import { BagsPane } from "./bags/pane";
import { PlayerBar } from "./bags/bar";
import { Connection } from "./connection/connection";
import { DoctorPane } from "./doctor/pane";
import { GraphPane } from "./graph/pane";
import { LogsPane } from "./logs/pane";
import { MessagesPane } from "./messages/pane";
import { NodesPane } from "./nodes/pane";
import { ParametersPane } from "./parameters/pane";
import { h } from "./shell/dom";
import { helpOf } from "./shell/keys";
import { Layout } from "./shell/layout";
import { noticesOf } from "./shell/notices";
import { staleLine } from "./shell/stale";
import { stateLine } from "./shell/state_line";
import { Tabs } from "./shell/tabs";
import { themeButton } from "./shell/theme";

function socketAddress(): string {
  const scheme = location.protocol === "https:" ? "wss:" : "ws:";
  const token = new URLSearchParams(location.search).get("token");
  const query = token === null ? "" : `?token=${encodeURIComponent(token)}`;
  return `${scheme}//${location.host}/${query}`;
}

function start(): void {
  const layout = new Layout();
  const connection = new Connection(socketAddress());
  const theme = themeButton();
  let messages: MessagesPane | null = null;
  const openTopic = (topic: string): void => {
    tabs.choose("messages");
    messages?.openBest(topic);
  };
  const tabs = new Tabs(
    [
      { id: "graph", title: "Graph", make: () => new GraphPane(connection, layout, openTopic) },
      {
        id: "messages",
        title: "Messages",
        make: () => {
          messages = new MessagesPane(connection, layout, new PlayerBar(connection).element);
          return messages;
        },
      },
      { id: "logs", title: "Logs", make: () => new LogsPane(connection, layout) },
      { id: "parameters", title: "Parameters", make: () => new ParametersPane(connection, layout) },
      { id: "nodes", title: "Nodes", make: () => new NodesPane(connection, layout) },
      { id: "bags", title: "Bags", make: () => new BagsPane(connection) },
      { id: "doctor", title: "Doctor", make: () => new DoctorPane(connection) },
    ],
    layout,
  );
  const help = helpOf(tabs);
  const name = h("h1", {}, "Feros");
  const header = h(
    "header",
    { class: "top" },
    name,
    tabs.bar,
    h("span", { class: "space" }),
    stateLine(connection),
    theme,
    help.button,
  );
  const stale = staleLine(connection, tabs.panels);
  document.body.append(header, noticesOf(connection), stale, tabs.panels, help.dialog);
  connection.socket.connect();
}

start();
