// A chart as SVG: it can be read by keys, saved as a picture, and copied as the numbers that it shows.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { write } from "./address";
import { copy } from "./clipboard";
import { percent } from "./format";
import { onKeys } from "./keys";
import { Axis, Chart, Series } from "./payload";
import { chartCsv, savePng, saveSvg } from "./picture";
import { boundsOf, markText, Scale, scaleOf, stacked, sumOf, valueText } from "./scale";

/** A point of a chart: a series, and which of its values. */
interface Point {
  series: number;
  at: number;
}

const left = 84, right = 14, above = 8, below = 34;
export const seriesColour = (i: number) => `var(--c${i % 8})`;

export function ChartView({ chart }: { chart: Chart }) {
  const box = useRef<HTMLElement>(null);
  const [width, setWidth] = useState(900);
  const [chosen, choose] = useState<Point | null>(null);
  const [said, say] = useState("");
  useEffect(() => {
    const seen = new ResizeObserver(([e]) => setWidth(Math.max(320, Math.floor(e.contentRect.width)))); // the element itself may be gone by then
    seen.observe(box.current!);
    return () => seen.disconnect();
  }, []);
  const drawing = useMemo(() => plan(chart, width), [chart, width]);
  const leads = chosen && chart.series[chosen.series].from_us?.[chosen.at] !== undefined;
  const follow = () => {
    const s = chosen && chart.series[chosen.series];
    if (chosen && s?.from_us?.length) location.hash = stretch(s, chosen.at);
  };
  const move = (by: number) => {
    const list = drawing.order;
    const now = chosen ? list.findIndex((p) => p.series === chosen.series && p.at === chosen.at) : by > 0 ? -1 : list.length;
    choose(list[Math.max(0, Math.min(list.length - 1, now + by))] ?? null);
  };
  const keys = onKeys({
    ArrowRight: () => move(1), ArrowLeft: () => move(-1), PageDown: () => move(20), PageUp: () => move(-20), Home: () => move(-1e9), End: () => move(1e9),
    Enter: follow, Escape: () => choose(null),
  });
  const svg = () => box.current!.querySelector("svg")!;
  const name = chart.title || "chart";
  return (
    <figure class="chart" ref={box}>
      <figcaption>
        {chart.title && <h2>{chart.title}</h2>} <span class="aside">{chart.aside}</span>
        <span class="save">
          <button onClick={() => saveSvg(svg(), name)} aria-label={`save ${name} as SVG`}>SVG</button>
          <button onClick={() => savePng(svg(), name)} aria-label={`save ${name} as PNG`}>PNG</button>
          <button onClick={async () => say((await copy(chartCsv(chart))) ? "copied" : "not allowed here")} aria-label={`copy the numbers of ${name} as CSV`}>CSV</button>
        </span>
      </figcaption>
      <Legend chart={chart} />
      <svg width={width} height={drawing.height} viewBox={`0 0 ${width} ${drawing.height}`} tabIndex={0} role="application" onKeyDown={keys} data-kind={chart.kind}
        aria-label={`${name}: ${drawing.order.length} values; the arrow keys read them one by one${chart.series.some((s) => s.from_us) ? ", Enter shows one in the timeline" : ""}`}
        onMouseMove={(e) => choose(drawing.nearest(e.offsetX, e.offsetY))} onClick={follow} class={leads ? "leads" : ""}>
        {drawing.axes}
        {drawing.marks}
        {chosen && drawing.ring(chosen)}
      </svg>
      <p class="aside reads" role="status">
        {said || (chosen ? readOut(chart, chosen) : "\u00a0")} {leads && <a href={stretch(chart.series[chosen.series], chosen.at)}>in the timeline</a>}
      </p>
    </figure>
  );
}

/** The stretch of the timeline that a point leads to, with a little around it. */
function stretch(s: Series, at: number): string {
  const from = s.from_us![at], to = s.to_us![at], margin = (to - from) * 0.1;
  return write({ view: "timeline", args: { from: Math.max(0, from - margin).toFixed(3), to: (to + margin).toFixed(3) } });
}

function Legend({ chart }: { chart: Chart }) {
  if (chart.kind === "heat" || chart.series.length < 2) return null;
  return (
    <p class="legend">
      {chart.series.map((s, i) => (
        <span>
          <span class={"swatch " + (s.line ? "line" : "")} style={{ background: chart.kind === "blocks" ? blockColour(s.name) : seriesColour(i) }} /> <bdi>{s.name}</bdi>
        </span>
      ))}
    </p>
  );
}

/** What a point says. */
function readOut(c: Chart, p: Point): string {
  const s = c.series[p.series];
  const row = s.row ? c.rows[s.row[p.at]] : "";
  const parts = [c.series.length > 1 || c.kind === "bars" ? s.name : "", row];
  if (c.kind === "bars") {
    const sum = sumOf(c.series, s.row![p.at]);
    parts.push(`${valueText(c.x, s.y[p.at])} of ${valueText(c.x, sum)}, ${percent((s.y[p.at] ?? 0) / Math.max(sum, 1e-9))}`);
  } else {
    parts.push(`${c.x.head} ${valueText(c.x, s.x[p.at])}`, `${c.y.head} ${valueText(c.y, s.y[p.at])}`);
  }
  if (s.texts?.[p.at]) parts.push(s.texts[p.at]);
  return parts.filter(Boolean).join(" · ");
}

interface Drawing {
  height: number;
  axes: preact.ComponentChildren;
  marks: preact.ComponentChildren;
  order: Point[];
  nearest: (x: number, y: number) => Point | null;
  ring: (p: Point) => preact.ComponentChildren;
}

/** Where everything of a chart stands. */
function plan(c: Chart, width: number): Drawing {
  const rows = c.rows.length > 0;
  const rowHeight = c.kind === "bars" ? 30 : c.kind === "blocks" ? 10 : Math.max(6, Math.min(26, 400 / Math.max(c.rows.length, 1)));
  const height = rows ? above + below + rowHeight * c.rows.length : 240;
  const b = boundsOf(c);
  const room = rows ? Math.min(190, Math.max(left, ...c.rows.slice(0, 400).map((r) => r.length * 7 + 12))) : left;
  const x = scaleOf(b.x[0], b.x[1], Boolean(c.x.log), room, width - right, Math.max(3, Math.floor(width / 140)), c.x.unit);
  const y = scaleOf(b.y[0], b.y[1], Boolean(c.y.log), height - below, above, 5, c.y.unit);
  const order = pointsInOrder(c);
  const place = (p: Point): Spot => spot(c, p, x, y, rowHeight);
  return {
    height, order,
    axes: <Axes c={c} x={x} y={y} width={width} height={height} room={room} rowHeight={rowHeight} />,
    marks: c.series.map((s, i) => <Marks c={c} s={s} number={i} x={x} y={y} place={place} most={b.y[1]} rowHeight={rowHeight} />),
    nearest: (px, py) => nearest(order, place, px, py, rows),
    ring: (p) => ring(place(p)),
  };
}

function pointsInOrder(c: Chart): Point[] {
  const all = c.series.flatMap((s, series) => s.x.map((_, at) => ({ series, at })));
  const row = (p: Point) => c.series[p.series].row?.[p.at] ?? 0;
  return all.sort((a, b) => row(a) - row(b) || c.series[a.series].x[a.at] - c.series[b.series].x[b.at] || a.series - b.series);
}

interface Spot {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Where a point stands; values of rows are boxes. */
function spot(c: Chart, p: Point, x: Scale, y: Scale, rowHeight: number): Spot {
  const s = c.series[p.series];
  const top = above + (s.row?.[p.at] ?? 0) * rowHeight;
  const v = s.y[p.at] ?? 0;
  if (c.kind === "bars") {
    let before = 0;
    for (let i = 0; i < p.series; i++) c.series[i].row!.forEach((r, k) => (before += r === s.row![p.at] ? (c.series[i].y[k] ?? 0) : 0));
    return { x: x.at(before), y: top + 2, width: x.at(before + v) - x.at(before), height: rowHeight - 4 };
  }
  if (c.kind === "blocks") return { x: x.at(s.x[p.at]), y: top, width: Math.max(x.at(s.x[p.at] + s.width![p.at]) - x.at(s.x[p.at]) - 0.4, 0.5), height: rowHeight - 1 };
  if (c.kind === "heat") {
    const cells = Math.max(1, new Set(s.x).size), wide = Math.max((x.at(x.high) - x.at(x.low)) / cells, 1);
    return { x: x.at(s.x[p.at]) - (s.x[p.at] === x.high ? wide : 0), y: top, width: wide + 0.3, height: rowHeight - 1 };
  }
  if (c.kind === "columns") return { x: x.at(s.x[p.at]), y: y.at(v), width: Math.max(x.at(s.x[p.at] + s.width![p.at]) - x.at(s.x[p.at]) - 1, 1), height: y.at(0) - y.at(v) };
  const level = c.kind === "stack" ? stacked(c.series)[p.series].top[p.at] : v;
  return { x: x.at(s.x[p.at]), y: y.at(level), width: 0, height: 0 };
}

function nearest(order: Point[], place: (p: Point) => Spot, x: number, y: number, rows: boolean): Point | null {
  let best: Point | null = null, least = rows ? 400 : 60 ** 2;
  for (const p of order) {
    const s = place(p);
    const dx = Math.max(s.x - x, 0, x - s.x - s.width), dy = Math.max(s.y - y, 0, y - s.y - s.height);
    const d = dx * dx + dy * dy;
    if (d < least) (least = d), (best = p);
    if (d === 0) break;
  }
  return best;
}

function ring(s: Spot) {
  if (s.width === 0) return <circle cx={s.x} cy={s.y} r="5" fill="none" stroke="var(--focus)" stroke-width="2" />;
  return <rect x={s.x - 1} y={s.y - 1} width={s.width + 2} height={s.height + 2} fill="none" stroke="var(--focus)" stroke-width="2" />;
}

function Axes(p: { c: Chart; x: Scale; y: Scale; width: number; height: number; room: number; rowHeight: number }) {
  const { c, x, y, width, height, room } = p;
  const floor = height - below;
  const line = (axis: Axis, head: string) => (axis.unit === "text" ? "" : head);
  return (
    <g font-size="11" fill="var(--dim)">
      {x.marks.map((v) => (
        <>
          <line x1={x.at(v)} x2={x.at(v)} y1={above} y2={floor} stroke="var(--line)" />
          <text x={x.at(v)} y={floor + 14} text-anchor="middle">{markText(c.x, v)}</text>
        </>
      ))}
      {c.rows.length === 0 && y.marks.map((v) => (
        <>
          <line x1={room} x2={width - right} y1={y.at(v)} y2={y.at(v)} stroke="var(--line)" />
          <text x={room - 6} y={y.at(v) + 4} text-anchor="end">{markText(c.y, v)}</text>
        </>
      ))}
      {c.rows.map((r, i) => (p.rowHeight >= 9 || i % 5 === 0) && (
        <text x={room - 6} y={above + (i + 0.5) * p.rowHeight + 4} text-anchor="end" font-size={Math.min(11, p.rowHeight + 1)}>{r.length > 26 ? "…" + r.slice(-25) : r}</text>
      ))}
      <text x={width - right} y={height - 4} text-anchor="end">{line(c.x, c.x.head)}</text>
      {c.rows.length === 0 && <text x={4} y={height - 4}>{line(c.y, c.y.head + " ↑")}</text>}
    </g>
  );
}

function Marks(p: { c: Chart; s: Series; number: number; x: Scale; y: Scale; place: (p: Point) => Spot; most: number; rowHeight: number }) {
  const { c, s, number, x, y, place, most } = p;
  const colour = seriesColour(number);
  const f = (v: number) => v.toFixed(1);
  const boxes = (keep: (at: number) => boolean) =>
    s.x.map((_, at) => (keep(at) ? place({ series: number, at }) : null)).map((b) => (b ? `M${f(b.x)} ${f(b.y)}h${f(Math.max(b.width, 0.4))}v${f(b.height)}h${f(-Math.max(b.width, 0.4))}z` : "")).join("");
  if (c.kind === "heat") return <>{heatSteps.map((n) => <path d={boxes((at) => heatStep(s.y[at], most) === n)} fill="var(--c0)" fill-opacity={0.06 + (0.94 * n) / (heatSteps.length - 1)} />)}</>;
  if (c.kind === "columns" || c.kind === "bars" || c.kind === "blocks") return <path d={boxes(() => true)} fill={c.kind === "blocks" ? blockColour(s.name) : colour} />;
  const known = s.x.map((_, at) => at).filter((at) => s.y[at] !== null);
  if (c.kind === "stack") {
    const { bottom, top } = stacked(c.series)[number];
    const edge = (v: number[]) => s.x.map((at, i) => `${f(x.at(at))} ${f(y.at(v[i]))}${i + 1 < s.x.length ? `L${f(x.at(s.x[i + 1]))} ${f(y.at(v[i]))}` : ""}`);
    return <path d={"M" + edge(top).join("L") + "L" + edge(bottom).join("L").split("L").reverse().join("L") + "z"} fill={colour} />;
  }
  if (c.kind === "levels") {
    const d = known.map((at, i) => `${i ? "H" + f(x.at(s.x[at])) + "V" + f(y.at(s.y[at]!)) : `M${f(x.at(s.x[at]))} ${f(y.at(s.y[at]!))}`}`).join("");
    return <path d={d} fill="none" stroke={colour} stroke-width="1.5" />;
  }
  if (s.line) return <path d={"M" + known.map((at) => `${f(x.at(s.x[at]))} ${f(y.at(s.y[at]!))}`).join("L")} fill="none" stroke={colour} stroke-width="2" stroke-dasharray={number % 2 ? "6 3" : undefined} />;
  // One path of many dots: a dot each would be an element each.
  return <path d={known.map((at) => `M${f(x.at(s.x[at]))} ${f(y.at(s.y[at]!))}h0`).join("")} stroke={colour} stroke-width="4.5" stroke-linecap="round" fill="none" />;
}

const heatSteps = [...Array(12).keys()];
const heatStep = (v: number | null, most: number) => (v === null ? -1 : Math.min(heatSteps.length - 1, Math.floor((v / Math.max(most, 1e-9)) * heatSteps.length)));
const blockColour = (name: string) => (name === "active" ? "var(--c0)" : name === "pending" ? "var(--c1)" : "var(--line)");
