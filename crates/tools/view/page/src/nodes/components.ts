// A container: its components, with a button to unload each, and a form to load more.

import type { Connection } from "../connection/connection";
import { errorText } from "../decode/codec";
import { breakable, button, h, setText } from "../shell/dom";
import { lines } from "../shell/shown";
import { readLoadParameters } from "./load_parameters";

export class Components {
  readonly element: HTMLElement;
  private readonly list = h("ul", { class: "components-list" });
  private readonly outcome = h("p", { class: "outcome", role: "status" });
  private readonly base: string;

  constructor(
    private readonly connection: Connection,
    container: string,
  ) {
    this.base = `${container}/_container`;
    const field = (name: string, placeholder: string, isNeeded: boolean): HTMLInputElement =>
      h("input", {
        name,
        placeholder,
        "aria-label": placeholder,
        required: isNeeded,
        type: "text",
        spellcheck: "false",
      });
    const fields = [
      field("package_name", "Package", true),
      field("plugin_name", "Plugin, such as demo::Talker", true),
      field("node_name", "Node name (optional)", false),
      field("node_namespace", "Namespace (optional)", false),
    ];
    const parameters = field("parameters", "Parameters, such as rate:=2.5 name:=left", false);
    const form = h(
      "form",
      {
        class: "load",
        onsubmit: (event: Event) => {
          event.preventDefault();
          const values = Object.fromEntries(fields.map(({ name, value }) => [name, value.trim()]));
          void this.load(values, parameters.value).then((isLoaded) => {
            if (isLoaded) form.reset();
          });
        },
      },
      ...fields,
      parameters,
      h("button", { type: "submit" }, "Load"),
    );
    this.element = h(
      "section",
      { class: "components" },
      h("h3", {}, "Components"),
      this.list,
      ...(connection.allowsChanges ? [form] : []),
      this.outcome,
    );
    void this.read();
  }

  private async read(): Promise<void> {
    try {
      const answer = await this.connection.services.call(`${this.base}/list_nodes`);
      const names = answer.full_node_names as string[];
      const ids = answer.unique_ids as BigUint64Array;
      this.list.replaceChildren(
        ...names.map((name, at) =>
          h(
            "li",
            {},
            h("span", {}, breakable(name)),
            button("Unload", () => void this.unload(name, ids[at] ?? 0n), {
              label: `Unload ${name}`,
              disabled: !this.connection.allowsChanges,
            }),
          ),
        ),
      );
      if (names.length === 0) {
        this.list.append(h("li", { class: "dim" }, "No component is loaded."));
      }
    } catch (error) {
      this.tell("failed", errorText(error));
    }
  }

  private async load(values: Record<string, string>, parameters: string): Promise<boolean> {
    this.tell("", "loading …");
    let isLoaded = false;
    try {
      const answer = await this.connection.services.call(`${this.base}/load_node`, {
        log_level: 0,
        remap_rules: [],
        parameters: readLoadParameters(parameters),
        extra_arguments: [],
        ...values,
      });
      isLoaded = answer.success === true;
      if (isLoaded) this.tell("done", `✓ loaded as ${String(answer.full_node_name)}`);
      else this.tell("failed", `✕ ${String(answer.error_message)}`);
    } catch (error) {
      this.tell("failed", `✕ ${errorText(error)}`);
    }
    await this.read();
    return isLoaded;
  }

  private async unload(name: string, id: bigint): Promise<void> {
    this.tell("", `unloading ${name} …`);
    try {
      const answer = await this.connection.services.call(`${this.base}/unload_node`, {
        unique_id: id,
      });
      if (answer.success === true) this.tell("done", `✓ unloaded ${name}`);
      else this.tell("failed", `✕ ${String(answer.error_message)}`);
    } catch (error) {
      this.tell("failed", `✕ ${errorText(error)}`);
    }
    await this.read();
  }

  private tell(kind: string, words: string): void {
    this.outcome.className = `outcome ${kind}`;
    setText(this.outcome, lines(words));
  }
}
