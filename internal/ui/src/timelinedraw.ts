// Drawing the timeline, and finding what stands at a place of the drawing.

import { End } from "./arrows";
import { colourOf, Colours, fitted } from "./canvas";
import { milliseconds } from "./format";
import { Arrow, Critical, Timeline } from "./payload";
import { Held } from "./tiles";

export const row = 16;
export const gap = 6;
export const ruler = 34;
export const gutter = 190;

/** One box of the timeline. */
export interface Box {
  lane: number;
  row: number;
  start: number;
  us: number;
  name: string;
  count: number;
  busy: number;
  arrows: Arrow[];
}

export interface Range {
  from: number;
  to: number;
}

const boxOf = (h: Held, n: number): Box => ({
  lane: h.tile.lane[n], row: h.tile.row[n], start: h.tile.start_us[n], us: h.tile.us[n], name: h.tile.names[h.tile.name[n]], count: h.tile.count[n], busy: h.tile.busy_us[n],
  arrows: h.arrows.get(n) ?? [],
});

export interface Plot {
  x: (us: number) => number;
  top: number;
  tops: number[];
  c: Colours;
}

export function drawTile(g: CanvasRenderingContext2D, h: Held, from: number, to: number, p: Plot & { width: number; h: number; find: string; timeline: Timeline }) {
  const t = h.tile;
  const fills = t.names.map((n) => (p.find && !n.toLowerCase().includes(p.find) ? p.c.raised : colourOf(n, p.c.dark)));
  for (let lane = 0; lane < p.tops.length; lane++) {
    const y0 = ruler + p.tops[lane] - p.top;
    if (y0 > p.h || y0 + p.timeline.lanes[lane].rows * row < ruler) continue;
    for (let n = h.lanes[lane]; n < h.lanes[lane + 1]; n++) {
      const end = t.start_us[n] + t.us[n];
      if (t.start_us[n] > to || end < from) continue;
      const y = y0 + t.row[n] * row;
      if (y < ruler - row || y > p.h) continue;
      const x0 = Math.max(p.x(t.start_us[n]), gutter - 4), x1 = Math.min(p.x(end), p.width + 4);
      const w = Math.max(x1 - x0 - 0.4, 0.7);
      g.fillStyle = fills[t.name[n]];
      if (t.count[n] > 1) { // how much of the box is busy
        const part = Math.max(0.25, Math.min(1, t.busy_us[n] / Math.max(t.us[n], 1e-9)));
        g.fillRect(x0, y + (row - 2) * (1 - part), w, (row - 2) * part);
      } else {
        g.fillRect(x0, y, w, row - 2);
        if (w > 24) {
          g.fillStyle = p.find && fills[t.name[n]] === p.c.raised ? p.c.dim : p.c.text;
          g.fillText(fitted(g, t.names[t.name[n]], w - 6), x0 + 3, y + row / 2 - 1);
        }
      }
    }
  }
}

/** The chosen event framed, with an arrow to each that it leads to. */
export function drawChosen(g: CanvasRenderingContext2D, b: Box, ends: End[], p: Plot) {
  const y = (lane: number, r: number) => ruler + p.tops[lane] + r * row - p.top;
  g.strokeStyle = g.fillStyle = p.c.focus;
  g.lineWidth = 2;
  const x0 = p.x(b.start), from = y(b.lane, b.row) + row / 2;
  g.strokeRect(x0, y(b.lane, b.row), Math.max(p.x(b.start + b.us) - x0, 2), row - 2);
  for (const e of ends) {
    const x = p.x(e.start_us), to = y(e.lane, e.row) + row / 2;
    const bend = Math.abs(to - from) < row ? row * 3 : 0; // ends of one row are joined from below
    g.lineWidth = e.to === "rank" ? 1 : 2;
    g.setLineDash(e.to === "forward" || e.to === "backward" ? [6, 3] : []);
    g.beginPath();
    g.moveTo(x0, from);
    g.bezierCurveTo(x0, (from + to) / 2 + bend, x, (from + to) / 2 + bend, x, to);
    g.stroke();
    g.setLineDash([]);
    g.strokeRect(x, to - row / 2, Math.max(p.x(e.start_us + e.us) - x, 2), row - 2);
  }
}

/** The critical path: its spans framed, and a line from each to the next. */
export function drawPath(g: CanvasRenderingContext2D, path: Critical, range: Range, p: Plot, width: number, h: number) {
  const colour = p.c.dark ? "#f0a35e" : "#b34700";
  g.save();
  g.beginPath();
  g.rect(gutter - 4, ruler, width, h);
  g.clip();
  g.strokeStyle = g.fillStyle = colour;
  const y = (i: number) => ruler + p.tops[path.lane[i]] + path.row[i] * row - p.top;
  let last = -1;
  for (let i = 0; i < path.lane.length; i++) {
    const end = path.start_us[i] + path.us[i];
    if (end < range.from) (last = i);
    if (end < range.from || path.start_us[i] > range.to) continue;
    const x0 = p.x(path.start_us[i]), x1 = Math.max(p.x(end), x0 + 1);
    g.lineWidth = 2;
    if (x1 - x0 > 3) g.strokeRect(x0 + 1, y(i), x1 - x0 - 2, row - 2);
    else g.fillRect(x0, y(i), x1 - x0, row - 2);
    if (last >= 0 && y(last) !== y(i)) {
      g.lineWidth = 1;
      g.beginPath();
      g.moveTo(x0, y(last) + row / 2);
      g.lineTo(x0, y(i) + row / 2);
      g.stroke();
    }
    last = i;
  }
  g.restore();
}

export function drawLanes(g: CanvasRenderingContext2D, t: Timeline, tops: number[], top: number, width: number, h: number, c: Colours) {
  g.fillStyle = c.raised;
  g.fillRect(0, 0, gutter - 4, h);
  t.lanes.forEach((l, i) => {
    const y = ruler + tops[i] - top;
    if (y > h || y + l.rows * row + gap < ruler) return;
    g.strokeStyle = c.line;
    g.lineWidth = 1;
    g.beginPath();
    g.moveTo(0, y - gap / 2 + 0.5);
    g.lineTo(width, y - gap / 2 + 0.5);
    g.stroke();
    const labelled = Math.max(y, ruler);
    g.fillStyle = c.text;
    g.fillText(fitted(g, l.rows > 1 || l.kind === "stream" ? l.name : l.kind === "process" ? `${l.name}, ${l.group}` : `${l.group}: ${l.name}`, gutter - 14), 6, labelled + row / 2);
    if (l.rows > 1) {
      g.fillStyle = c.dim;
      g.fillText(fitted(g, l.group, gutter - 14), 6, labelled + row * 1.5);
    }
  });
}

export function drawRuler(g: CanvasRenderingContext2D, t: Timeline, range: Range, x: (us: number) => number, width: number, c: Colours) {
  g.fillStyle = c.raised;
  g.fillRect(0, 0, width, ruler - 2);
  const span = range.to - range.from;
  const step = 10 ** Math.floor(Math.log10(span / 4));
  const every = span / step > 20 ? step * 5 : span / step > 8 ? step * 2 : step;
  g.fillStyle = c.dim;
  g.strokeStyle = c.line;
  for (let us = Math.ceil(range.from / every) * every; us < range.to; us += every) {
    g.fillText(milliseconds(us / 1e3), x(us) + 3, 8);
    g.fillRect(x(us), 0, 1, 14);
  }
  let shown = -Infinity;
  for (const s of t.steps) {
    if (s.start_us > range.to || s.start_us + s.us < range.from) continue;
    const x0 = Math.max(x(s.start_us), gutter), w = Math.min(x(s.start_us + s.us), width) - x0;
    if (x0 - shown < 1) continue;
    shown = x0;
    g.fillStyle = colourOf(s.name, c.dark);
    g.fillRect(x0, 16, Math.max(w - 1, 0.7), 14);
    g.fillStyle = c.text;
    if (w > 30) g.fillText(fitted(g, s.name, w - 6), x0 + 3, 23);
  }
  g.fillStyle = c.raised;
  g.fillRect(0, 0, gutter - 4, ruler - 2);
  g.fillStyle = c.dim;
  g.fillText("steps", 6, 23);
}

/** The box of a row at an instant, within a little to both sides. */
export function boxAt(parts: { held: Held; from: number; to: number }[], lane: number, r: number, us: number, near: number): Box | null {
  for (const { held: h, from, to } of parts) {
    if (us < from || us > to) continue;
    for (let n = h.lanes[lane]; n < h.lanes[lane + 1]; n++) {
      const t = h.tile;
      if (t.row[n] === r && t.start_us[n] - near <= us && us <= t.start_us[n] + Math.max(t.us[n], near)) return boxOf(h, n);
    }
  }
  return null;
}

/** The event after (or before) the chosen one in its row; without one the first in sight. */
export function neighbour(parts: { held: Held }[], chosen: Box | null, by: number, range: Range): Box | null {
  let best: Box | null = null;
  for (const { held: h } of parts) {
    for (let n = 0; n < h.tile.lane.length; n++) {
      const start = h.tile.start_us[n];
      if (chosen) {
        if (h.tile.lane[n] !== chosen.lane || h.tile.row[n] !== chosen.row || (by > 0 ? start <= chosen.start : start >= chosen.start)) continue;
      } else if (start < range.from || start > range.to) continue;
      if (!best || (by > 0 ? start < best.start : start > best.start)) best = boxOf(h, n);
    }
  }
  return best;
}

/** A box as the tiles have it, with its name and arrows, where one that was come to in another way is drawn as an event of its own. */
export function known(parts: { held: Held }[], b: Box | null): Box | null {
  if (!b || b.arrows.length > 0) return b;
  for (const { held: h } of parts) {
    for (let n = h.lanes[b.lane]; n < h.lanes[b.lane + 1]; n++) {
      const t = h.tile;
      if (t.row[n] === b.row && t.count[n] === 1 && Math.abs(t.start_us[n] - b.start) < 2e-3) return { ...boxOf(h, n), name: b.name || t.names[t.name[n]] };
    }
  }
  return b;
}
