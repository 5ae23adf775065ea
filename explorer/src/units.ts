/** Numbers with units, as people write them. */

function scaled(value: number, steps: readonly (readonly [number, string])[]): string {
  const [step, unit] = steps.find(([least]) => Math.abs(value) >= least) ?? steps.at(-1) ?? [1, ""];
  return `${round(value / step)} ${unit}`;
}

/** Three digits. */
export function round(value: number): string {
  if (!Number.isFinite(value)) return "–";
  return Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}

const STEPS = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]] as const;

export function seconds(value: number): string {
  if (value === 0) return "0 s";
  return scaled(value, STEPS);
}

/** A time within a block that ends at `end`, to a millionth of it. */
export function instant(value: number, end: number): string {
  const [step, unit] = STEPS.find(([least]) => end >= least) ?? [1, "s"];
  const digits = Math.max(Math.ceil(-Math.log10(resolution(end) / step)), 0);
  return `${(value / step).toFixed(digits)} ${unit}`;
}

/** The difference of times that `instant` still shows, seconds. */
export function resolution(end: number): number {
  return 10 ** (Math.floor(Math.log10(end || 1)) - 6);
}

export function rate(bitsPerSecond: number): string {
  return scaled(bitsPerSecond, [[1e9, "Gbit/s"], [1e6, "Mbit/s"], [1e3, "kbit/s"], [1, "bit/s"]]);
}

export function bytes(value: number): string {
  return scaled(value, [[1 << 20, "MiB"], [1 << 10, "KiB"], [1, "B"]]);
}

/** The causes of timeouts, as sentences. */
export const CAUSES: Readonly<Record<string, string>> = {
  handshake: "a SYN, SYN-ACK or request was lost",
  full_window: "its whole window was dropped",
  lack_of_dupacks: "too few packets arrived behind the lost one for three duplicate ACKs",
  tail: "it lost one of its last packets, and fewer than three packets follow",
  lost_retransmission: "the retransmission was dropped, too",
  ack_loss: "the packet arrived, but all its ACKs were dropped",
  spurious: "nothing was lost: the packet or its ACK was still under way",
};

/** The same in a few words. */
export const SHORT: Readonly<Record<string, string>> = {
  handshake: "in the handshake",
  full_window: "for a whole window",
  lack_of_dupacks: "for lack of duplicate ACKs",
  tail: "at the tail",
  lost_retransmission: "for a lost retransmission",
  ack_loss: "for lost ACKs",
  spurious: "spurious",
};
