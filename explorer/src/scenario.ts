/** Scenarios as trees: keys, texts. What they mean, and whether they are right, only the engine knows. */

import type { Tree } from "./engine/door.ts";

/** Whole numbers are `bigint`, others `number`, as TOML tells them apart. */
export type Scenario = Tree;

/** The scenario that a page begins with. */
export const FIRST = `title = "A synchronised read"
[network]
topology = "star"
rate = "1Gbps"
delay = "25us"
buffer = "64KiB"
[workload]
name = "barrier-read"
servers = 16
sru = "64KiB"
blocks = 1
connections = "persistent"
request_jitter = "20us"
[transport]
name = "newreno"
rto_min = "200ms"
`;

/** Writes JSON in which 1.0 stays a number with a fraction. */
export function toJson(value: unknown): string {
  if (typeof value === "bigint") return String(value);
  if (typeof value === "number") return Number.isInteger(value) ? value.toFixed(1) : String(value);
  if (Array.isArray(value)) return `[${value.map(toJson).join(",")}]`;
  if (isTree(value)) {
    const entries = Object.entries(value).map(([key, of]) => `${JSON.stringify(key)}:${toJson(of)}`);
    return `{${entries.join(",")}}`;
  }
  return JSON.stringify(value) ?? "null";
}

/** Whether a value is a table, not a list. */
export function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value of a dotted key, if it is there. */
export function get(scenario: Scenario, key: string): unknown {
  let at: unknown = scenario;
  for (const part of key.split(".")) at = isTree(at) ? at[part] : Array.isArray(at) ? at[Number(part)] : undefined;
  return at;
}

/** The scenario with another value of a dotted key; without it for `undefined`. A number is an index of a list. */
export function set(scenario: Scenario, key: string, value: unknown): Scenario {
  return changed(scenario, key.split("."), value) as Scenario;
}

function changed(at: unknown, [first, ...rest]: readonly string[], value: unknown): unknown {
  if (first === undefined) return value;
  if (Array.isArray(at) && Number(first) < at.length) {
    return at.map((entry: unknown, index) => (index === Number(first) ? changed(entry, rest, value) : entry));
  }
  // A name stands for a table with this name.
  const tree = isTree(at) ? at : typeof at === "string" ? { name: at } : {};
  const { [first]: old, ...others } = tree;
  return rest.length === 0 && value === undefined ? others : { ...tree, [first]: changed(old, rest, value) };
}

/** The scenario without its sweep: at the first value of each axis, but for the servers. */
export function withoutSweep(scenario: Scenario): { scenario: Scenario; left: string[] } {
  const { sweep, ...rest } = scenario;
  if (!isTree(sweep)) return { scenario, left: [] };
  const left: string[] = [];
  let settled: Scenario = rest;
  const settle = (axes: Tree): void => {
    for (const [key, values] of Object.entries(axes)) {
      if (key === "zip") {
        (Array.isArray(values) ? values : []).filter(isTree).forEach(settle);
      } else if (Array.isArray(values) && (key !== SERVERS || get(settled, key) === undefined)) {
        settled = set(settled, key, values[0]);
        left.push(key);
      }
    }
  };
  settle(sweep);
  return { scenario: settled, left: left.filter((key) => key !== SERVERS) };
}

/** The key of the curve's axis. */
export const SERVERS = "workload.servers";

/** The number of servers; none where a scenario has several workloads, or servers by rack. */
export function servers(scenario: Scenario): number | undefined {
  const value = get(scenario, SERVERS);
  return typeof value === "bigint" ? Number(value) : undefined;
}
