/** What the page and its worker say to each other. */

import type { Row, RunAnswer } from "./door.ts";

/** A setting whose curve and block are wanted. */
export interface Wanted {
  /** Which of the page's settings. */
  readonly slot: number;
  /** The scenario without a sweep, JSON. */
  readonly scenario: string;
  /** The same at each number of servers of the curve; the coarse ones come first. */
  readonly curve: readonly { readonly servers: number; readonly scenario: string }[];
  /** How many points of the curve are the coarse ones. */
  readonly coarse: number;
  /** The number of servers of the block. */
  readonly servers: number;
  /** Runs of each point, seeds 1 to this. */
  readonly seeds: number;
  /** Whether the block is wanted, too. */
  readonly block: boolean;
}

/** What is asked of the worker. Newer work replaces older work. */
export type Order =
  | { readonly kind: "open"; readonly module: WebAssembly.Module }
  | { readonly kind: "work"; readonly job: number; readonly wanted: readonly Wanted[] }
  | { readonly kind: "ask"; readonly id: number; readonly question: string };

/** What the worker reports. */
export type Report =
  | { readonly kind: "point"; readonly job: number; readonly point: Point }
  | { readonly kind: "facts"; readonly job: number; readonly slot: number; readonly facts: Row }
  | { readonly kind: "block"; readonly job: number; readonly slot: number; readonly run: RunAnswer }
  | { readonly kind: "wrong"; readonly job: number; readonly slot: number; readonly line: string }
  | { readonly kind: "gap"; readonly job: number; readonly servers: number; readonly line: string }
  | { readonly kind: "coarse" | "done"; readonly job: number }
  | { readonly kind: "answer"; readonly id: number; readonly answer?: unknown; readonly error?: string };

/** A run of one point of a curve. */
export interface Point {
  readonly slot: number;
  readonly servers: number;
  readonly seed: number;
  readonly row: Row;
}
