// What a selected stretch of the timeline sums to, from the tiles that are drawn.

import { Timeline } from "./payload";
import { Held } from "./tiles";

export interface Sums {
  rows: { lane: string; name: string; count: number; us: number }[];
  /** Events that are drawn together, whose names are not told apart. */
  merged: number;
}

const most = 40;

export function sumsOf(parts: { held: Held; from: number; to: number }[], range: { from: number; to: number }, timeline: Timeline): Sums {
  const rows = new Map<string, Sums["rows"][number]>();
  const seen = new Set<string>();
  let merged = 0;
  for (const { held: h, from, to } of parts) {
    const t = h.tile;
    const low = Math.max(range.from, from), high = Math.min(range.to, to);
    for (let n = 0; n < t.lane.length; n++) {
      const start = Math.max(t.start_us[n], low), end = Math.min(t.start_us[n] + t.us[n], high);
      if (end < start || (end === start && t.us[n] > 0)) continue;
      const lane = timeline.lanes[t.lane[n]];
      const inside = t.us[n] > 0 ? (end - start) / t.us[n] : 1;
      const many = t.count[n] > 1;
      const name = many ? "(short events)" : t.names[t.name[n]];
      const key = t.lane[n] + " " + name;
      let r = rows.get(key);
      if (!r) rows.set(key, (r = { lane: `${lane.group}, ${lane.name}`, name, count: 0, us: 0 }));
      r.us += t.busy_us[n] * inside;
      const event = `${t.lane[n]} ${t.row[n]} ${t.start_us[n]}`; // one that reaches over two tiles counts once
      if (!seen.has(event)) r.count += Math.round(t.count[n] * (many ? inside : 1));
      seen.add(event);
      if (many) merged += Math.round(t.count[n] * inside);
    }
  }
  return { rows: [...rows.values()].sort((a, b) => b.us - a.us).slice(0, most), merged };
}
