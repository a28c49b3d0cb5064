// Tiles of the timeline: which ones a stretch needs, and what is there until they come.

import { has, isFile, part } from "./data";
import { Tile, Timeline } from "./payload";

/** A tile with where its lanes begin. */
export interface Held {
  tile: Tile;
  level: number;
  index: number;
  from: number;
  to: number;
  /** The first box of each lane, and the number of boxes behind the last lane. */
  lanes: number[];
  arrows: Map<number, Tile["arrows"]>;
}

/** As many tiles are kept; the ones that were not used for longest go. */
const most = 120;

export class Tiles {
  private held = new Map<string, Held>();
  private asked = new Set<string>();
  /** The last thing that went wrong; "" if nothing did. */
  problem = "";

  constructor(private timeline: Timeline, private changed: () => void) {}

  /** The level at which a tile is between half and all of a width that shows so much time. */
  level(us: number, width: number): number {
    const n = Math.ceil(Math.log2(((this.timeline.span_us / us) * width) / 1024));
    return Math.max(0, Math.min(this.timeline.levels - 1, n));
  }

  /** What can be drawn of a stretch at a level, each with the part of the stretch that it is for. coarse: finer tiles exist but are not in this file. */
  draw(from: number, to: number, level: number): { parts: { held: Held; from: number; to: number }[]; coarse: boolean; waiting: boolean } {
    const width = this.timeline.span_us / 2 ** level;
    const first = Math.max(0, Math.floor(from / width)), last = Math.min(2 ** level - 1, Math.floor(to / width));
    const parts: { held: Held; from: number; to: number }[] = [];
    let coarse = false, waiting = false;
    for (let i = first; i <= last; i++) {
      const best = this.best(level, i);
      const exact = best && (best.level === level || best.tile.complete);
      if (!exact) {
        if (this.want(level, i)) waiting = true;
        else coarse = true;
      }
      if (best) parts.push({ held: best, from: i * width, to: (i + 1) * width });
    }
    return { parts, coarse, waiting };
  }

  private best(level: number, index: number): Held | undefined {
    let best: Held | undefined;
    for (let l = level, i = index; l >= 0; l--, i >>= 1) {
      const key = `tile/${l}/${i}`;
      const h = this.held.get(key);
      if (h && (!best || h.tile.complete)) best = h;
      if (h) (this.held.delete(key), this.held.set(key, h)); // used just now
      if (best?.tile.complete || (best && l < level)) break;
    }
    return best;
  }

  /** Asks for a tile, or for the finest one above it that this file holds; false where there is none to wait for. */
  private want(level: number, index: number): boolean {
    let l = level, i = index;
    while (l > 0 && isFile && !has(`tile/${l}/${i}`)) (l--, (i >>= 1));
    const key = `tile/${l}/${i}`;
    if (this.held.has(key)) return false;
    if (this.asked.has(key)) return true;
    if (this.asked.size > 24) return true;
    this.asked.add(key);
    part<Tile>(key).then(
      (tile) => this.take(key, tile, l, i),
      (error) => {
        this.problem = String(error.message ?? error);
        this.changed();
      },
    );
    return true;
  }

  private take(key: string, tile: Tile, level: number, index: number): void {
    this.asked.delete(key);
    const lanes = new Array<number>(this.timeline.lanes.length + 1).fill(tile.lane.length);
    for (let n = tile.lane.length - 1; n >= 0; n--) lanes[tile.lane[n]] = n;
    for (let n = lanes.length - 2; n >= 0; n--) lanes[n] = Math.min(lanes[n], lanes[n + 1]);
    const width = this.timeline.span_us / 2 ** level;
    const arrows = new Map<number, Tile["arrows"]>();
    for (const a of tile.arrows) arrows.set(a.box, [...(arrows.get(a.box) ?? []), a]);
    this.held.set(key, { tile, level, index, from: index * width, to: (index + 1) * width, lanes, arrows });
    for (const old of this.held.keys()) {
      if (this.held.size <= most) break;
      if (old !== "tile/0/0") this.held.delete(old);
    }
    this.problem = "";
    this.changed();
  }
}
