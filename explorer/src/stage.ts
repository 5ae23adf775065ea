/** The pictures of the page, and the time that they share. */

import { type Block, read } from "./block.ts";
import { Clock } from "./clock.ts";
import type { Row, RunAnswer } from "./engine/door.ts";
import { find } from "./page.ts";
import { Lanes } from "./pictures/lanes.ts";
import { QueuePicture } from "./pictures/queue.ts";
import { Star } from "./pictures/star.ts";
import { NAMES } from "./pictures/curve.ts";
import { instant, resolution, seconds } from "./units.ts";

interface Slot {
  readonly star: Star;
  readonly lanes: Lanes;
  readonly queue: QueuePicture;
  readonly places: readonly HTMLElement[];
  block?: Block;
  facts: Row;
}

/** Parts of the range of the time slider. */
const PARTS = 1000;

export class Stage {
  readonly clock: Clock;
  private readonly slots: Slot[] = [];
  private active = 0;
  private count = 1;
  private readonly slider = find<HTMLInputElement>("#time");
  private readonly now = find<HTMLOutputElement>("#now");
  private readonly play = find("#play");

  constructor(private readonly onTime: (time: number) => void) {
    this.clock = new Clock(
      (share) => this.move(share),
      (isPlaying) => this.changed(isPlaying),
    );
    this.slots = [this.slot(0), this.slot(1)];
    this.play.addEventListener("click", () => this.clock.toggle());
    this.slider.addEventListener("input", () => {
      this.clock.pause();
      this.clock.to(this.slider.valueAsNumber / PARTS);
      this.tell();
    });
    find("#back").addEventListener("click", () => this.step(-1));
    find("#forward").addEventListener("click", () => this.step(1));
    const speed = find<HTMLSelectElement>("#speed");
    speed.addEventListener("change", () => (this.clock.speed = Number(speed.value)));
  }

  /** The blocks shown, by slot. */
  get blocks(): readonly (Block | undefined)[] {
    return this.slots.map(({ block }) => block);
  }

  /** Shows one setting, or two side by side. */
  arrange(count: number, active: number): void {
    [this.active, this.count] = [active, count];
    this.slots.forEach(({ places }, slot) => places.forEach((place) => (place.hidden = slot >= count)));
    for (const id of ["#star", "#lanes", "#queue"]) find(id).classList.toggle("two", count > 1);
  }

  facts(slot: number, facts: Row): void {
    const of = this.slots[slot];
    if (of !== undefined) of.facts = facts;
  }

  /** Shows a traced run, at the place in its story where the last one was. */
  show(slot: number, run: RunAnswer): void {
    const [of, block] = [this.slots[slot], read(run)];
    if (of === undefined || block === undefined) return;
    of.block = block;
    of.star.show(block, of.facts);
    of.lanes.show(block);
    of.queue.showWith(block, of.facts);
    this.move(this.clock.share);
    this.tell();
  }

  /** Whether the axes shorten waits. */
  shorten(cut: boolean): void {
    for (const { lanes, queue } of this.slots) {
      lanes.shorten(cut);
      queue.shorten(cut);
    }
  }

  /** The time of the active block, seconds. */
  get time(): number {
    const block = this.slots[this.active]?.block;
    return block === undefined ? 0 : block.story.time(this.clock.share * block.story.length);
  }

  /** Moves to a time of the active block. */
  to(time: number): void {
    const block = this.slots[this.active]?.block;
    if (block !== undefined && block.story.length > 0) this.clock.to(block.story.tell(time) / block.story.length);
  }

  private slot(number: number): Slot {
    const colour = number === 0 ? "first" : "second";
    const pick = (told: number): void => {
      const block = this.slots[number]?.block;
      if (block === undefined) return;
      this.clock.pause();
      this.clock.to(told / block.story.length);
      this.tell();
    };
    const place = (id: string): HTMLElement => {
      const made = document.createElement("div");
      made.className = "picture";
      made.dataset["setting"] = NAMES[number] ?? "";
      const name = Object.assign(document.createElement("p"), { className: "name", textContent: NAMES[number] });
      const named = document.createElement("div");
      named.append(name, made);
      find(id).append(named);
      return made;
    };
    const [star, lanes, queue] = [place("#star"), place("#lanes"), place("#queue")];
    return {
      star: new Star(star, colour), lanes: new Lanes(lanes, colour, pick),
      queue: new QueuePicture(queue, colour, pick), places: [star, lanes, queue].map((it) => it.parentElement as HTMLElement), facts: {},
    };
  }

  private move(share: number): void {
    for (const { block, star, lanes, queue } of this.slots) {
      if (block === undefined) continue;
      const told = share * block.story.length;
      star.at(told);
      lanes.at(told);
      queue.at(told);
    }
    const value = String(Math.round(share * PARTS));
    if (this.slider.value !== value) this.slider.value = value;
    const time = this.times(share);
    if (this.now.textContent !== time) this.now.textContent = time;
  }

  /** The times at a share of the stories; those of two settings have names. */
  private times(share: number): string {
    const shown = this.slots.slice(0, this.count).map(({ block }, slot) => {
      const time = instant(block?.story.time(share * block.story.length) ?? 0, block?.end ?? 0);
      return this.count > 1 ? `${NAMES[slot]} ${time}` : time;
    });
    return shown.join(", ");
  }

  private changed(isPlaying: boolean): void {
    this.play.textContent = isPlaying ? "Pause" : "Play";
    if (!isPlaying) this.tell();
  }

  /** Says what stands still, which while it moves would be too much. */
  private tell(): void {
    this.slider.setAttribute("aria-valuetext", seconds(this.time));
    for (const { star } of this.slots) star.label();
    this.onTime(this.time);
  }

  /** To the next or the last event: a drop, a wait that begins or ends, a packet at the client. */
  private step(direction: 1 | -1): void {
    const block = this.slots[this.active]?.block;
    if (block === undefined) return;
    this.clock.pause();
    const { hops, waits, drops, end } = block;
    const times = [0, end, ...waits.flatMap((wait) => [wait.start, wait.end])];
    for (const hop of drops) times.push(hops.dropped[hop] ?? 0);
    for (let hop = 0; hop < hops.count; hop += 1) {
      const arrived = hops.arrived[hop] ?? NaN;
      if (hops.forward[hop] === 1 && hops.place[hop] === 1 && !Number.isNaN(arrived)) times.push(arrived);
    }
    // Nearer than the time shows, two events are one.
    const least = resolution(end);
    const { time } = this;
    const next = direction === 1
      ? times.reduce((best, at) => (at > time + least && at < best ? at : best), end)
      : times.reduce((best, at) => (at < time - least && at > best ? at : best), 0);
    this.to(next);
    this.tell();
  }
}
