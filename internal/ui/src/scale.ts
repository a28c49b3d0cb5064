// From values to pixels, and the marks of an axis.

import { Axis, Chart, Series } from "./payload";
import { bytes, cell, count, milliseconds } from "./format";

export interface Scale {
  low: number;
  high: number;
  at: (v: number) => number;
  marks: number[];
}

/** A scale over values, from one pixel to another. */
export function scaleOf(low: number, high: number, log: boolean, from: number, to: number, marks = 6, unit = ""): Scale {
  if (!(high > low)) high = low + (unit === "count" ? 1 : Math.max(Math.abs(low), 1));
  if (log && low > 0) {
    const a = Math.log10(low), b = Math.log10(high);
    const out: number[] = [];
    for (let e = Math.floor(a); e <= Math.ceil(b); e++) if (10 ** e >= low && 10 ** e <= high) out.push(10 ** e);
    return { low, high, at: (v) => from + ((Math.log10(Math.max(v, low / 1e3)) - a) / (b - a)) * (to - from), marks: out };
  }
  const every = unit === "bytes" ? 2 ** Math.ceil(Math.log2((high - low) / marks)) : Math.max(step((high - low) / marks), unit === "count" ? 1 : 0);
  const out: number[] = [];
  for (let v = Math.ceil(low / every) * every; v <= high + every * 1e-9; v += every) out.push(Math.abs(v) < every * 1e-9 ? 0 : v);
  return { low, high, at: (v) => from + ((v - low) / (high - low)) * (to - from), marks: out };
}

/** A round number near v. */
function step(v: number): number {
  const unit = 10 ** Math.floor(Math.log10(v));
  const n = v / unit;
  return unit * (n > 5 ? 10 : n > 2 ? 5 : n > 1 ? 2 : 1);
}

/** A mark's text. */
export function markText(axis: Axis, v: number): string {
  if (axis.unit === "us") return milliseconds(v / 1e3).replace(/\.0+ /, " ");
  if (axis.unit === "bytes") return v === 0 ? "0" : bytes(v);
  if (axis.unit === "count") return count(v);
  return String(Number(v.toPrecision(3)));
}

export const valueText = (axis: Axis, v: number | null) => (axis.unit === "text" ? "" : cell(v, axis.unit));

const known = (list: (number | null)[]) => list.filter((v): v is number => v !== null);

/** The bounds of a chart's values; of stacks those of the sums. */
export function boundsOf(c: Chart): { x: [number, number]; y: [number, number] } {
  let x: [number, number] = [Infinity, -Infinity], y: [number, number] = [Infinity, -Infinity];
  const wider = (b: [number, number], low: number, high: number): [number, number] => [Math.min(b[0], low), Math.max(b[1], high)];
  for (const s of c.series) {
    s.x.forEach((v, i) => (x = wider(x, v, v + (s.width?.[i] ?? 0))));
    for (const v of known(s.y)) y = wider(y, v, v);
  }
  if (c.kind === "stack") y = wider(y, 0, Math.max(...stacked(c.series).flatMap((s) => s.top)));
  if (c.kind === "bars") x = [0, Math.max(...c.rows.map((_, row) => sumOf(c.series, row)), 1e-9)];
  if (!c.y.log) y = wider(y, 0, y[1] + 0.03 * Math.abs(y[1]));
  return { x, y };
}

/** The sum of a row of bars. */
export function sumOf(series: Series[], row: number): number {
  let sum = 0;
  for (const s of series) s.row!.forEach((r, i) => (sum += r === row ? (s.y[i] ?? 0) : 0));
  return sum;
}

/** Series upon series: where each begins and ends. They share their X. */
export function stacked(series: Series[]): { bottom: number[]; top: number[] }[] {
  const sums = new Array<number>(series[0]?.x.length ?? 0).fill(0);
  return series.map((s) => {
    const bottom = [...sums];
    s.y.forEach((v, i) => (sums[i] += v ?? 0));
    return { bottom, top: [...sums] };
  });
}
