/** Hops of packets over links, as columns. */
export interface Hops {
  readonly count: number;
  readonly flow: Float64Array;
  readonly forward: Float64Array;
  readonly place: Float64Array;
  readonly seq: Float64Array;
  readonly ack: Float64Array;
  readonly bytes: Float64Array;
  readonly again: Float64Array;
  readonly marked: Float64Array;
  readonly offered: Float64Array;
  readonly left: Float64Array;
  readonly arrived: Float64Array;
  readonly dropped: Float64Array;
  kind(hop: number): string;
}

/** When a hop is over; a packet that is still under way at the end of the run has only begun. */
export function over(hops: Hops, hop: number): number {
  const ends = [hops.arrived[hop] ?? NaN, hops.dropped[hop] ?? NaN];
  return ends.find((at) => !Number.isNaN(at)) ?? hops.offered[hop] ?? 0;
}
