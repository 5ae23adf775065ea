/** The state of the page, and the link that holds it. */

import { FIRST, type Scenario, withoutSweep } from "./scenario.ts";
import { fromToml, toToml } from "./toml.ts";

export interface State {
  /** The chapter that is open, from 1; 0 for the explorer. */
  readonly chapter: number;
  /** One or two settings. */
  readonly settings: readonly Scenario[];
  /** The setting that the sliders move. */
  readonly active: number;
  /** The time cursor, seconds; before the first event of a run it is 0. */
  readonly time: number;
  /** Whether the pictures cut waits short. */
  readonly cut: boolean;
}

/** What the page shows without a link. */
export function start(): State {
  return { chapter: 0, settings: [fromToml(FIRST)], active: 0, time: 0, cut: false };
}

interface Packed {
  c: number;
  s: string[];
  a: number;
  t: number;
  w: boolean;
}

/** The part of the address behind `#`. */
export function toHash(state: State): string {
  const packed: Packed = {
    c: state.chapter,
    s: state.settings.map(toToml),
    a: state.active,
    t: state.time,
    w: state.cut,
  };
  const bytes = new TextEncoder().encode(JSON.stringify(packed));
  const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return `#s=${btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
}

/** Reads the part of an address behind `#`: a whole state, a chapter (`#chapter-2`), or nothing. */
export function fromHash(hash: string): State {
  const chapter = /^#chapter-([1-5])$/.exec(hash)?.[1];
  if (chapter !== undefined) return { ...start(), chapter: Number(chapter) };
  const text = /^#s=([\w-]+)$/.exec(hash)?.[1];
  if (text === undefined) return start();
  try {
    const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
    return unpack(JSON.parse(new TextDecoder().decode(bytes)) as Partial<Packed>);
  } catch {
    throw new Error("link: is incomplete; copy it again");
  }
}

function unpack({ c = 0, s = [], a = 0, t = 0, w = false }: Partial<Packed>): State {
  const settings = s.slice(0, 2).map((text) => withoutSweep(fromToml(text)).scenario);
  if (settings.length === 0) settings.push(fromToml(FIRST));
  return {
    chapter: Number.isInteger(c) && c >= 0 && c <= 5 ? c : 0,
    settings,
    active: a === 1 && settings.length === 2 ? 1 : 0,
    time: Number.isFinite(t) && t >= 0 ? t : 0,
    cut: w === true,
  };
}
