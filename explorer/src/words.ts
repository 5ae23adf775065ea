/** What the pictures show, in words. */

import type { Block } from "./block.ts";
import type { Row } from "./engine/door.ts";
import { table } from "./page.ts";
import { CAUSES, rate, round, seconds, SHORT } from "./units.ts";

/** A sentence on one run. */
export function summary(name: string, servers: number, row: Row): string {
  const number = (column: string): number => Number(row[column] ?? 0);
  const of = servers > 0 ? `${servers} servers: ` : "";
  const takes = row["completion_s"];
  const block = typeof takes === "number" ? `, a block takes ${seconds(takes)}` : "";
  const status = row["status"] === "ok" ? "" : ` (not finished: ${row["status"]})`;
  const causes = Object.keys(CAUSES)
    .map((cause) => [cause, number(`timeouts_${cause}`)] as const)
    // Those at the tail are among those for lack of duplicate ACKs.
    .filter(([cause, count]) => count > 0 && cause !== "tail")
    .map(([cause, count]) => `${count} ${SHORT[cause] ?? cause}`);
  const timeouts = number("timeouts");
  const again = number("fast_retransmits");
  const fast = again === 0 ? "" : `, ${again} fast ${again === 1 ? "retransmit" : "retransmits"}`;
  const why = causes.length > 0 ? ` (${causes.join(", ")})` : "";
  return (
    `${name}${of}${rate(number("goodput_bps"))}${status}` +
    `${block}; ${number("drops")} drops${fast}, ` +
    `${timeouts} ${timeouts === 1 ? "timeout" : "timeouts"}${why}.`
  );
}

/** The waits of a block. */
export function waits({ waits: all }: Block): HTMLElement {
  if (all.length === 0) {
    const none = document.createElement("p");
    none.textContent = "No timer expired.";
    return none;
  }
  const rows = all.slice(0, 200).map((wait) => [
    `${wait.flow}`, seconds(wait.end), seconds(wait.end - wait.start), seconds(wait.rto),
    `${SHORT[wait.cause] ?? wait.cause}: ${CAUSES[wait.cause] ?? ""}`, wait.place.replaceAll("_", " "),
  ]);
  return table(["server", "ended at", "waited", "timer", "cause", "place"], rows);
}

/** The curve, in Mbit/s. */
export function numbers(rows: readonly (readonly [number, ...(number | undefined)[]])[], names: readonly string[]): HTMLElement {
  const cells = rows.map(([servers, ...goodputs]) => [
    `${servers}`, ...goodputs.map((goodput) => (goodput === undefined ? "" : round(goodput / 1e6))),
  ]);
  return table(["servers", ...names.map((name) => `${name}, Mbit/s`)], cells);
}
