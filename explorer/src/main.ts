/** The page: its state, what is asked of the engine, and what the pictures get of the answers. */

import wasm from "../engine.wasm?url";

import { App } from "./app.ts";
import { Engine } from "./engine/client.ts";
import { find } from "./page.ts";
import { readWith } from "./toml.ts";

declare global {
  interface Window {
    /** The engine, for tests and for the curious at the browser's console. */
    incast?: Engine;
  }
}

interface Entry {
  readonly name: string;
  /** The family of a transport. */
  readonly family?: string;
}

async function begin(): Promise<void> {
  // Some file servers do not know the type that streaming compilation insists on.
  const bytes = await (await fetch(new URL(wasm, import.meta.url))).arrayBuffer();
  const module = await WebAssembly.compile(bytes);
  const engine = new Engine(module);
  await readWith(module);
  // The page explains TCP, so it offers no transport of another family.
  const names = async (kind: string): Promise<string[]> =>
    ((await engine.ask({ entries: kind })) as Entry[])
      .filter(({ family = "tcp" }) => family === "tcp")
      .map(({ name }) => name);
  const { version } = (await engine.ask("version")) as { version: string };
  const app = new App(engine, await names("transports"), await names("remedies"), version);
  app.open(location.hash);
  window.incast = engine;
}

begin().catch((error: unknown) => {
  find("#wrong").textContent = `explorer: ${error instanceof Error ? error.message : String(error)}`;
});
