// Flame graph, icicle and sandwich of a tree of stacks.

import { useEffect, useMemo, useState } from "preact/hooks";
import { Address, refine, write } from "./address";
import { changeColour, colourOf, colours, fitted, useCanvas } from "./canvas";
import { save } from "./clipboard";
import { Filter } from "./filter";
import { Boxes, matches, sandwich } from "./flametree";
import { cell, percent } from "./format";
import { onKeys } from "./keys";
import { Part } from "./part";
import { Flame, Summary } from "./payload";
import { SourcePane } from "./source";
import { Sunburst } from "./sunburst";

const row = 19;

export function FlameView({ part, address, summary }: { part: string; address: Address; summary: Summary }) {
  const turned = address.args.show === "inverted";
  return <Part name={turned ? part + "-inverted" : part}>{(flame: Flame) => <Graph flame={flame} address={address} summary={summary} />}</Part>;
}

function Graph({ flame, address, summary }: { flame: Flame; address: Address; summary: Summary }) {
  const { find = "", show = "icicle", of = "" } = address.args;
  const frame = flame.names.indexOf(of);
  const isSandwich = show === "sandwich" && frame >= 0;
  const boxes = useMemo(() => (isSandwich ? sandwich(flame, frame, false) : flame), [flame, isSandwich, frame]);
  const callers = useMemo(() => (isSandwich ? sandwich(flame, frame, true) : null), [flame, isSandwich, frame]);
  const found = useMemo(() => matches(boxes, find), [boxes, find]);
  const [chosen, choose] = useState(0);
  const [picked, pick] = useState<Boxes>(boxes);
  useEffect(() => choose(0), [boxes]);
  const from = picked === callers ? callers : boxes;
  const at = Math.min(chosen, from.frame.length - 1);
  const whole = flame.total_us[0];
  const place = from.places[from.frame[at]];
  const source = /^(.*):(\d+)$/.exec(place);
  return (
    <div class="view flame">
      <header class="tools">
        <h1>{flame.title}</h1>
        <Filter find={find} label="search" />
        <label>
          as{" "}
          <select value={show} onChange={(e) => refine({ show: e.currentTarget.value, of: from.names[from.frame[at]] })}>
            <option value="icicle">icicle</option>
            <option value="flame">flame graph</option>
            <option value="sunburst">sunburst</option>
            {!flame.before_us && <option value="inverted">icicle, inverted</option>}
            {!flame.before_us && <option value="sandwich">sandwich of the chosen box</option>}
          </select>
        </label>
        <button onClick={() => picture(flame.title)}>Save PNG</button>
        <span class="aside" role="status">
          {find ? `${percent(found.total / Math.max(boxes.total_us[0], 1e-9))} (${cell(found.total, boxes.unit)}) matches` : cell(whole, boxes.unit) + " in all"}
        </span>
      </header>
      <p class="aside">{flame.aside}</p>
      <div class="beside">
        <div class="stack">
          {show === "sunburst" && <Sunburst boxes={boxes} found={found.frames} whole={whole} chosen={at} choose={(n) => (pick(boxes), choose(n))} label={flame.title} />}
          {callers && <Boxed boxes={callers} upward found={matches(callers, find).frames} whole={whole} chosen={picked === callers ? at : -1} choose={(n) => (pick(callers), choose(n))} label="callers" />}
          {show !== "sunburst" && <Boxed boxes={boxes} upward={show === "flame"} found={found.frames} whole={whole} chosen={picked === callers ? -1 : at} choose={(n) => (pick(boxes), choose(n))} label={flame.title} />}
        </div>
        {source && summary.views.some((v) => v.id === "source") && <SourcePane file={source[1]} line={Number(source[2])} />}
      </div>
      <p class="chosen-box" role="status">
        <bdi>{from.names[from.frame[at]]}</bdi> <span class="aside">{place}</span>: total {cell(from.total_us[at], from.unit)} ({percent(from.total_us[at] / whole)})
        {show !== "inverted" && !(picked === callers) && `, self ${cell(from.self_us[at], from.unit)} (${percent(from.self_us[at] / whole)})`}{" "}
        {from.before_us && ` · ${change(from.total_us[at], from.before_us[at])}`}{" "}
        {source && <a href={write({ view: "source", args: { file: source[1], line: source[2] } })}>source</a>}
      </p>
    </div>
  );
}

/** What a box took before, in words. */
function change(now: number, before: number): string {
  if (before === 0) return "new";
  return `${now >= before ? "+" : "−"}${cell(Math.abs(now - before), "us")}: ${cell(before, "us")} before`;
}

interface BoxedProps {
  boxes: Boxes;
  upward: boolean;
  found: boolean[];
  whole: number;
  chosen: number;
  choose: (n: number) => void;
  label: string;
}

/** One drawing: boxes by depth, zoomed to one of them. */
function Boxed({ boxes, upward, found, whole, chosen, choose, label }: BoxedProps) {
  const [zoom, setZoom] = useState(0);
  const [top, setTop] = useState(0);
  const [over, setOver] = useState<{ n: number; x: number; y: number } | null>(null);
  const rows = useMemo(() => byDepth(boxes), [boxes]);
  const searching = found.some(Boolean);
  const view = zoom < boxes.frame.length ? zoom : 0;
  useEffect(() => (setZoom(0), setTop(0)), [boxes]);
  const span = Math.max(boxes.total_us[view], 1e-9), left = boxes.start_us[view];
  const y = (depth: number, height: number) => (upward ? height - (depth + 1) * row + top : depth * row - top);
  const canvas = useCanvas((g, width, height) => {
    const c = colours();
    g.fillStyle = c.back;
    g.fillRect(0, 0, width, height);
    for (let d = 0; d < rows.length; d++) {
      const at = y(d, height);
      if (at < -row || at > height) continue;
      for (let k = firstAt(boxes, rows[d], left); k < rows[d].length; k++) {
        const n = rows[d][k];
        if (boxes.start_us[n] >= left + span) break;
        const x0 = Math.max(0, ((boxes.start_us[n] - left) / span) * width);
        const x1 = Math.min(width, ((boxes.start_us[n] + boxes.total_us[n] - left) / span) * width);
        if (x1 - x0 < 0.3) continue;
        const name = boxes.names[boxes.frame[n]];
        const dim = searching && !found[boxes.frame[n]];
        g.fillStyle = dim ? c.raised : boxes.before_us ? changeColour(boxes.total_us[n], boxes.before_us[n], whole, c.dark) : colourOf(name, c.dark);
        g.fillRect(x0, at, Math.max(x1 - x0 - 0.6, 0.4), row - 1);
        g.fillStyle = dim ? c.dim : c.text;
        g.fillText(fitted(g, name, x1 - x0 - 6), x0 + 4, at + row / 2);
        if (n === chosen) {
          g.strokeStyle = c.focus;
          g.lineWidth = 2;
          g.strokeRect(x0 + 1, at + 1, Math.max(x1 - x0 - 2.6, 1), row - 3);
        }
      }
    }
  });
  const hit = (e: MouseEvent) => {
    const box = canvas.current!.getBoundingClientRect();
    const d = Math.floor(upward ? (box.height - (e.clientY - box.top) + top) / row : (e.clientY - box.top + top) / row);
    const us = left + ((e.clientX - box.left) / box.width) * span;
    const list = rows[d] ?? [];
    const k = firstAt(boxes, list, us);
    return k < list.length && boxes.start_us[list[k]] <= us ? list[k] : -1;
  };
  const children = (n: number) => (rows[boxes.depth[n] + 1] ?? []).filter((c) => boxes.parent[c] === n);
  const sibling = (by: number) => {
    const list = boxes.parent[chosen] < 0 ? [chosen] : children(boxes.parent[chosen]);
    choose(list[Math.max(0, Math.min(list.length - 1, list.indexOf(chosen) + by))]);
  };
  const up = () => boxes.parent[chosen] >= 0 && choose(boxes.parent[chosen]);
  const down = () => choose(children(chosen)[0] ?? chosen);
  const keys = onKeys({
    ArrowDown: upward ? up : down, ArrowUp: upward ? down : up, ArrowLeft: () => sibling(-1), ArrowRight: () => sibling(1),
    Enter: () => setZoom(chosen), Escape: () => setZoom(0), s: () => refine({ show: "sandwich", of: boxes.names[boxes.frame[chosen]] }),
  });
  return (
    <div class="drawing">
      <canvas ref={canvas} tabIndex={0} role="application" aria-label={`${label}: arrow keys choose a box, Enter zooms into it, Escape out, s shows its callers and callees`}
        onKeyDown={keys} onFocus={() => chosen < 0 && choose(0)} onMouseMove={(e) => setOver({ n: hit(e), x: e.offsetX, y: e.offsetY })} onMouseLeave={() => setOver(null)}
        onClick={(e) => { const n = hit(e); if (n >= 0) (choose(n), setZoom(n)); }}
        onWheel={(e) => (e.preventDefault(), setTop(Math.max(0, Math.min(top + (upward ? -e.deltaY : e.deltaY), (rows.length - 3) * row))))} data-boxes={boxes.frame.length} />
      {over && over.n >= 0 && (
        <div class="tip" style={{ left: `${Math.min(over.x + 14, canvas.current!.clientWidth - 330)}px`, top: `${over.y + 16}px` }}>
          <bdi>{boxes.names[boxes.frame[over.n]]}</bdi>
          <div class="aside">{boxes.places[boxes.frame[over.n]]}</div>
          total {cell(boxes.total_us[over.n], boxes.unit)}, {percent(boxes.total_us[over.n] / whole)}
          {boxes.before_us && <div>{change(boxes.total_us[over.n], boxes.before_us[over.n])}</div>}
        </div>
      )}
    </div>
  );
}

/** Nodes by depth, in order of their start. */
export function byDepth(f: Boxes): number[][] {
  const rows: number[][] = [];
  for (let i = 0; i < f.frame.length; i++) (rows[f.depth[i]] ??= []).push(i);
  return rows;
}

/** The first of a row's boxes that ends behind an instant. */
export function firstAt(f: Boxes, list: number[], us: number): number {
  let low = 0, high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (f.start_us[list[middle]] + f.total_us[list[middle]] <= us) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Saves what is drawn. */
export function picture(name: string): void {
  document.querySelector<HTMLCanvasElement>(".drawing canvas")!.toBlob((png) => png && save(name + ".png", "image/png", png));
}
