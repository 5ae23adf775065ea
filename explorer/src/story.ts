/** The time of a run as it is told: waits in which no packet moves are shortened. */

import { type Hops, over } from "./hops.ts";

/** A wait takes at most this share of the time in which packets move. */
const LONGEST_WAIT = 0.12;
const BUCKETS = 2000;

interface Piece {
  /** Its start and end, seconds of the network. */
  readonly start: number;
  readonly end: number;
  /** Its start and length in the story. */
  readonly at: number;
  readonly length: number;
}

export class Story {
  private constructor(
    private readonly pieces: readonly Piece[],
    /** Its length. */
    readonly length: number,
    /** For each part of the story, where its hops begin in `hops`. */
    private readonly first: Int32Array,
    private readonly hops: Int32Array,
  ) {}

  static of(hops: Hops, end: number): Story {
    const pieces = shorten(busy(hops), end);
    const last = pieces.at(-1);
    const length = last === undefined ? 0 : last.at + last.length;
    const bare = new Story(pieces, length, new Int32Array(BUCKETS + 1), new Int32Array());
    return new Story(pieces, length, ...bare.index(hops));
  }

  /** From a time of the network to that of the story. */
  tell(time: number): number {
    const piece = this.find((it) => it.end, time);
    if (piece === undefined) return this.length;
    const share = piece.end > piece.start ? (time - piece.start) / (piece.end - piece.start) : 0;
    return piece.at + Math.min(Math.max(share, 0), 1) * piece.length;
  }

  /** From a time of the story to that of the network. */
  time(told: number): number {
    const piece = this.find((it) => it.at + it.length, told);
    if (piece === undefined) return this.pieces.at(-1)?.end ?? 0;
    const share = piece.length > 0 ? (told - piece.at) / piece.length : 0;
    return piece.start + Math.min(Math.max(share, 0), 1) * (piece.end - piece.start);
  }

  /** Hops that may be seen at a time of the story: those under way, and those dropped shortly before. */
  near(told: number): Int32Array {
    const bucket = Math.min(Math.max(Math.floor((told / this.length) * BUCKETS), 0), BUCKETS - 1);
    return this.hops.subarray(this.first[bucket], this.first[bucket + 1]);
  }

  /** How long a dropped packet is seen falling, in the story. */
  get fall(): number {
    return this.length / 40;
  }

  /** The first piece whose end is not before `at`. */
  private find(end: (piece: Piece) => number, at: number): Piece | undefined {
    let [low, high] = [0, this.pieces.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const piece = this.pieces[middle];
      if (piece !== undefined && end(piece) < at) low = middle + 1;
      else high = middle;
    }
    return this.pieces[low];
  }

  private index(hops: Hops): [Int32Array, Int32Array] {
    const bucket = (told: number): number =>
      Math.min(Math.max(Math.floor((told / this.length) * BUCKETS), 0), BUCKETS - 1);
    const from = new Int32Array(hops.count);
    const to = new Int32Array(hops.count);
    const first = new Int32Array(BUCKETS + 1);
    for (let hop = 0; hop < hops.count; hop += 1) {
      const falls = Number.isNaN(hops.dropped[hop]) ? 0 : this.fall;
      from[hop] = bucket(this.tell(hops.offered[hop] ?? 0));
      to[hop] = bucket(this.tell(over(hops, hop)) + falls);
      for (let at = from[hop] ?? 0; at <= (to[hop] ?? 0); at += 1) first[at + 1]! += 1;
    }
    for (let at = 0; at < BUCKETS; at += 1) first[at + 1]! += first[at] ?? 0;
    const next = first.slice();
    const list = new Int32Array(first[BUCKETS] ?? 0);
    for (let hop = 0; hop < hops.count; hop += 1) {
      for (let at = from[hop] ?? 0; at <= (to[hop] ?? 0); at += 1) {
        list[next[at] ?? 0] = hop;
        next[at]! += 1;
      }
    }
    return [first, list];
  }
}

/** The spans in which packets move. Hops are in the order in which they begin. */
function busy(hops: Hops): [number, number][] {
  const spans: [number, number][] = [];
  for (let hop = 0; hop < hops.count; hop += 1) {
    const [start, end] = [hops.offered[hop] ?? 0, over(hops, hop)];
    const last = spans.at(-1);
    if (last !== undefined && start <= last[1]) last[1] = Math.max(last[1], end);
    else spans.push([start, end]);
  }
  return spans;
}

function shorten(spans: readonly [number, number][], end: number): Piece[] {
  const moving = spans.reduce((sum, [from, to]) => sum + to - from, 0) || end;
  const pieces: Piece[] = [];
  let [time, at] = [0, 0];
  const add = (until: number, most: number): void => {
    if (until <= time) return;
    const length = Math.min(until - time, most);
    pieces.push({ start: time, end: until, at, length });
    [time, at] = [until, at + length];
  };
  for (const [from, to] of spans) {
    add(from, LONGEST_WAIT * moving);
    add(to, Infinity);
  }
  add(end, LONGEST_WAIT * moving);
  return pieces;
}
