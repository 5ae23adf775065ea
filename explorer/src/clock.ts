/** The time that all pictures share: a place in the story of a block, and what moves it. */

/** The whole story takes so long at speed 1, seconds. */
const WHOLE = 40;

export class Clock {
  private isPlaying = false;
  private last = 0;
  /** Share of the story that has been told, 0 to 1. */
  share = 0;
  speed = 1;

  constructor(
    private readonly onMove: (share: number) => void,
    private readonly onChange: (isPlaying: boolean) => void,
  ) {}

  play(): void {
    if (this.isPlaying) return;
    if (this.share >= 1) this.share = 0;
    this.isPlaying = true;
    this.onChange(true);
    this.last = performance.now();
    requestAnimationFrame((now) => this.tick(now));
  }

  pause(): void {
    if (!this.isPlaying) return;
    this.isPlaying = false;
    this.onChange(false);
  }

  toggle(): void {
    if (this.isPlaying) this.pause();
    else this.play();
  }

  to(share: number): void {
    this.share = Math.min(Math.max(share, 0), 1);
    this.onMove(this.share);
  }

  private tick(now: number): void {
    if (!this.isPlaying) return;
    const began = performance.now();
    const passed = Math.max(now - this.last, 0) / 1000;
    this.last = now;
    this.to(this.share + (passed * this.speed) / WHOLE);
    performance.measure("incast-frame", { start: began });
    performance.clearMeasures("incast-frame");
    if (this.share >= 1) this.pause();
    else requestAnimationFrame((next) => this.tick(next));
  }
}
