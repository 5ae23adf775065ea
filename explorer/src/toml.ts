/** Scenarios as text. The engine reads TOML, so that a mistake has the line of the command line. */

import { stringify } from "smol-toml";

import { Door } from "./engine/door.ts";
import type { Scenario } from "./scenario.ts";

let reader: Door | undefined;

/** Reads with this engine, in the page's own thread: a text takes it less than a message to the worker. */
export async function readWith(module: WebAssembly.Module): Promise<void> {
  reader = await Door.open(module);
}

/** Reads TOML; what is not TOML is an `EngineError` with line and column. */
export function fromToml(text: string): Scenario {
  if (reader === undefined) throw new Error("the engine is not open yet");
  const { document } = reader.ask(JSON.stringify({ document: text })) as { document: unknown };
  return unpack(document) as Scenario;
}

/** Writes TOML. */
export function toToml(scenario: Scenario): string {
  return stringify(scenario, { numbersAsFloat: true });
}

/** Whole numbers come as digits, texts behind a quote (crates/web/src/document.rs). */
function unpack(value: unknown): unknown {
  if (typeof value === "string") return value.startsWith("'") ? value.slice(1) : BigInt(value);
  if (Array.isArray(value)) return value.map(unpack);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, of]) => [key, unpack(of)]));
}
