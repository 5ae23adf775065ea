/** Pictures over the time of a block: an axis, the cursor that all share, and a click that moves it. */

import type { Block } from "../block.ts";
import { seconds } from "../units.ts";
import { Canvas } from "./canvas.ts";

export abstract class Timeline {
  protected readonly canvas: Canvas;
  protected block: Block | undefined;
  protected readonly left = 52;
  protected readonly right = 10;
  protected readonly bottom = 22;
  protected readonly top = 6;
  private told = 0;
  private cut = false;
  private readonly cursor = document.createElement("div");

  constructor(place: HTMLElement, label: string, onPick: (told: number) => void) {
    this.canvas = new Canvas(place, label, () => this.refresh());
    this.cursor.className = "cursor";
    place.append(this.cursor);
    const pick = ({ offsetX }: PointerEvent): void => onPick(this.pick(offsetX));
    this.canvas.element.addEventListener("pointerdown", pick);
    this.canvas.element.addEventListener("pointermove", (event) => {
      if (event.buttons === 1) pick(event);
    });
  }

  show(block: Block): void {
    this.block = block;
    this.canvas.element.setAttribute("aria-label", this.describe(block));
    this.refresh();
  }

  /** Moves the cursor to a time of the block's story. */
  at(told: number): void {
    this.told = told;
    this.moveCursor();
  }

  /** Whether the axis is that of the story, in which waits are short. */
  shorten(cut: boolean): void {
    this.cut = cut;
    this.refresh();
  }

  protected abstract describe(block: Block): string;
  protected abstract paint(block: Block): void;

  /** Where a time of the network is on the axis. */
  protected x(time: number): number {
    const { block, canvas } = this;
    if (block === undefined) return this.left;
    const share = this.cut ? block.story.tell(time) / block.story.length : time / block.end;
    return this.left + share * (canvas.width - this.left - this.right);
  }

  private pick(x: number): number {
    const { block, canvas } = this;
    if (block === undefined) return 0;
    const share = Math.min(Math.max((x - this.left) / (canvas.width - this.left - this.right), 0), 1);
    return this.cut ? share * block.story.length : block.story.tell(share * block.end);
  }

  private refresh(): void {
    const { canvas, block } = this;
    canvas.clear();
    if (canvas.width === 0) return;
    if (block !== undefined) {
      this.paint(block);
      this.drawAxis(block);
    }
    canvas.point();
    this.moveCursor();
  }

  /** The cursor lies over the picture, which need not be drawn again when it moves. */
  private moveCursor(): void {
    const { block, cursor } = this;
    cursor.hidden = block === undefined;
    if (block === undefined) return;
    cursor.style.transform = `translateX(${this.x(block.story.time(this.told))}px)`;
  }

  private drawAxis(block: Block): void {
    const { canvas } = this;
    const { pen, colours } = canvas;
    const y = canvas.height - this.bottom;
    pen.strokeStyle = colours.soft;
    pen.fillStyle = colours.soft;
    canvas.line(this.left, y, canvas.width - this.right, y);
    const room = canvas.width - this.left - this.right;
    const ticks = this.cut ? even(Math.max(Math.floor(room / 110), 2)) : rounded(room / 64, block.end);
    for (const share of ticks) {
      const time = this.cut ? block.story.time(share * block.story.length) : share * block.end;
      const x = this.left + share * room;
      canvas.line(x, y, x, y + 4);
      const half = pen.measureText(seconds(time)).width / 2;
      canvas.text(seconds(time), Math.max(Math.min(x, canvas.width - half), this.left + half), y + 13, "center");
    }
  }
}

/** Ticks at equal distances. */
function even(count: number): number[] {
  return Array.from({ length: count + 1 }, (_, tick) => tick / count);
}

/** Ticks at round numbers, at most so many. */
function rounded(count: number, end: number): number[] {
  const least = end / count;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = ([1, 2, 5].find((of) => of * power >= least) ?? 10) * power;
  return Array.from({ length: Math.floor(end / step + 1e-9) + 1 }, (_, tick) => (tick * step) / end);
}
