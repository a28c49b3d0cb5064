// The timeline: lanes of threads and streams over time, drawn from tiles that Go made.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Address, refine } from "./address";
import { callOf, End, endBy, ends, Leads } from "./arrows";
import { colours, useCanvas } from "./canvas";
import { isFile, part } from "./data";
import { Filter } from "./filter";
import { picture } from "./flame";
import { milliseconds, percent } from "./format";
import { onKeys } from "./keys";
import { usePart } from "./part";
import { Critical, Found, Shared, Summary, Timeline } from "./payload";
import { Sums, sumsOf } from "./sums";
import { Box, boxAt, drawChosen, drawLanes, drawPath, drawRuler, drawTile, gap, gutter, known, neighbour, Range, row, ruler } from "./timelinedraw";
import { Tiles } from "./tiles";

export function TimelineView({ timeline, address, summary }: { timeline: Timeline; address: Address; summary: Summary }) {
  const { find = "" } = address.args;
  const whole = { from: 0, to: timeline.span_us };
  const [range, setRange] = useState<Range>(() => given(address, whole));
  const [top, setTop] = useState(0);
  const [picked, choose] = useState<Box | null>(null);
  const [over, setOver] = useState<{ box: Box; x: number; y: number } | null>(null);
  const [selected, select] = useState<Range | null>(null);
  const [found, setFound] = useState<Found | null>(null);
  const [, redraw] = useState(0);
  const withPath = address.args.path === "1" && timeline.path;
  const path = usePart<Critical>(withPath ? "path" : "timeline").value;
  const shared = usePart<Shared>(timeline.shared ? "shared" : "timeline").value;
  const frame = useRef(0);
  const tiles = useMemo(() => new Tiles(timeline, () => redraw((n) => n + 1)), [timeline]);
  const tops = useMemo(() => {
    let y = 0;
    return timeline.lanes.map((l) => {
      const at = y;
      y += l.rows * row + gap;
      return at;
    });
  }, [timeline]);
  const height = timeline.lanes.reduce((h, l) => h + l.rows * row + gap, 0);
  const drag = useRef<{ x: number; y: number; range: Range; top: number; selects: boolean; moved: boolean } | null>(null);
  const span = range.to - range.from;

  /** Shows a stretch, within what there is; the address follows. */
  const show = (from: number, to: number) => {
    const least = 0.05;
    const us = Math.min(Math.max(to - from, least), timeline.span_us);
    from = Math.max(0, Math.min(from, timeline.span_us - us));
    setRange({ from, to: from + us });
    clearTimeout(frame.current);
    frame.current = setTimeout(() => refine({ from: from.toFixed(3), to: (from + us).toFixed(3) }), 200) as unknown as number;
  };
  const zoom = (by: number, at = 0.5) => {
    const middle = range.from + span * at;
    show(middle - span * by * at, middle + span * by * (1 - at));
  };
  const pan = (by: number) => show(range.from + span * by, range.to + span * by);
  const go = (b: { start: number; us: number; lane: number; row: number }, wide = 6) => {
    show(b.start - b.us * (wide / 2), b.start + b.us * (1 + wide / 2));
    const y = tops[b.lane] + b.row * row;
    if (y < top || y > top + 300) setTop(Math.max(0, y - 120));
  };
  useEffect(() => () => clearTimeout(frame.current), []);
  useEffect(() => {
    const { from, to } = address.args;
    if (from && to && document.activeElement?.tagName !== "CANVAS") setRange(given(address, whole));
  }, [address.args.from, address.args.to]);
  useEffect(() => {
    setFound(null);
    if (!find || isFile) return;
    let wanted = true;
    part<Found>("find/" + find).then((f) => {
      if (!wanted) return;
      setFound(f);
      if (address.args.from || f.longest.length === 0) return;
      const b = f.longest.reduce((m, p) => (p.us > m.us ? p : m));
      const box = { lane: b.lane, row: b.row, start: b.start_us, us: b.us, name: b.name, count: 1, busy: b.us, arrows: [] };
      choose(box);
      go(box);
    }, () => {});
    return () => void (wanted = false);
  }, [find]);

  const size = useRef(1000);
  const drawn = tiles.draw(range.from, range.to, tiles.level(span, size.current));
  const chosen = known(drawn.parts, picked);
  const call = callOf(shared, chosen), leads = ends(chosen, call);
  const canvas = useCanvas((g, width, h) => {
    const c = colours();
    const plot = Math.max(width - gutter, 50);
    const x = (us: number) => gutter + ((us - range.from) / span) * plot;
    size.current = plot;
    g.fillStyle = c.back;
    g.fillRect(0, 0, width, h);
    for (const p of drawn.parts) {
      g.save();
      g.beginPath();
      g.rect(Math.max(x(p.from), gutter), ruler, Math.min(x(p.to), width) - Math.max(x(p.from), gutter), h - ruler);
      g.clip();
      drawTile(g, p.held, p.from, p.to, { x, width, h, top, tops, find: find.toLowerCase(), c, timeline });
      g.restore();
    }
    if (selected) {
      g.fillStyle = c.dark ? "#ffffff22" : "#00000018";
      g.fillRect(x(selected.from), ruler, x(selected.to) - x(selected.from), h);
    }
    if (withPath && path?.kinds) drawPath(g, path, range, { x, top, tops, c }, width, h);
    if (chosen) drawChosen(g, chosen, leads, { x, top, tops, c });
    drawLanes(g, timeline, tops, top, width, h, c);
    drawRuler(g, timeline, range, x, width, c);
  });

  const at = (e: MouseEvent): { us: number; box: Box | null } => {
    const b = canvas.current!.getBoundingClientRect();
    const plot = Math.max(b.width - gutter, 50);
    const us = range.from + ((e.clientX - b.left - gutter) / plot) * span;
    const y = e.clientY - b.top - ruler + top;
    const lane = tops.findLastIndex((t) => t <= y);
    if (lane < 0 || e.clientY - b.top < ruler) return { us, box: null };
    return { us, box: boxAt(drawn.parts, lane, Math.floor((y - tops[lane]) / row), us, (span / plot) * 1.5) };
  };
  const wheel = (e: WheelEvent) => {
    e.preventDefault();
    const b = canvas.current!.getBoundingClientRect();
    const onRuler = e.clientY - b.top < ruler;
    const amount = e.deltaMode === 1 ? 16 : 1;
    // One event shows one stretch: what goes mostly sideways pans, and zooming does not pan as well.
    if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) pan((e.deltaX * amount) / 1200);
    else if (e.ctrlKey || e.metaKey || onRuler || height <= b.height - ruler) {
      zoom(Math.exp(e.deltaY * amount * 0.0022), Math.max(0, Math.min(1, (e.clientX - b.left - gutter) / (b.width - gutter))));
    } else if (e.shiftKey) pan((e.deltaY * amount) / 1200);
    else {
      setTop(Math.max(0, Math.min(height - 60, top + e.deltaY * amount)));
      if (e.deltaX) pan((e.deltaX * amount) / 1200);
    }
  };
  const step = (by: number) => {
    const next = neighbour(drawn.parts, chosen, by, range);
    if (next) {
      choose(next);
      if (next.start < range.from || next.start > range.to) show(next.start - span / 2, next.start + span / 2);
    }
  };
  const match = (by: number) => {
    if (!found || found.longest.length === 0) return;
    const now = chosen ? chosen.start : range.from;
    const list = by > 0 ? found.longest.filter((p) => p.start_us > now) : found.longest.filter((p) => p.start_us < now).reverse();
    const p = list[0] ?? (by > 0 ? found.longest[0] : found.longest.at(-1)!);
    const box = { lane: p.lane, row: p.row, start: p.start_us, us: p.us, name: p.name, count: 1, busy: p.us, arrows: [] };
    choose(box);
    go(box);
  };
  const togglePath = () => refine({ path: withPath ? "" : "1" });
  const toPath = (by: number) => {
    if (!path?.kinds) return;
    const now = chosen ? chosen.start : range.from;
    const i = by > 0 ? path.start_us.findIndex((us) => us > now + 1e-4) : path.start_us.findLastIndex((us) => us < now - 1e-4);
    if (i < 0) return;
    const box = { lane: path.lane[i], row: path.row[i], start: path.start_us[i], us: path.us[i], name: `critical path: ${path.kinds[path.kind[i]]}`, count: 1, busy: path.us[i], arrows: [] };
    choose(box);
    go(box);
  };
  const keys = onKeys({
    x: () => timeline.path && togglePath(), "}": () => toPath(1), "{": () => toPath(-1),
    w: () => zoom(0.7), s: () => zoom(1 / 0.7), a: () => pan(-0.15), d: () => pan(0.15), ArrowLeft: () => pan(-0.15), ArrowRight: () => pan(0.15),
    "+": () => zoom(0.7), "-": () => zoom(1 / 0.7), ArrowUp: () => setTop(Math.max(0, top - 3 * row)), ArrowDown: () => setTop(Math.min(height - 60, top + 3 * row)),
    ".": () => step(1), ",": () => step(-1), n: () => match(1), p: () => match(-1), f: () => chosen && go(chosen), Enter: () => chosen && go(chosen),
    l: () => follow(endBy("l", chosen, call)), b: () => follow(endBy("b", chosen, call)), g: () => follow(endBy("g", chosen, call)), m: () => select(chosen ? { from: chosen.start, to: chosen.start + chosen.us } : { ...range }),
    "0": () => show(0, timeline.span_us), Escape: () => (select(null), choose(null)),
  });
  const follow = (e?: End) => {
    if (!e) return;
    const box = { lane: e.lane, row: e.row, start: e.start_us, us: e.us, name: "", count: 1, busy: e.us, arrows: [] };
    choose(box);
    go(box, 40);
  };
  return (
    <div class="view timeline">
      <header class="tools">
        <h1>Timeline</h1>
        <Filter find={find} label="search" />
        <button onClick={() => show(0, timeline.span_us)}>Whole</button>
        {timeline.path && (
          <label>
            <input type="checkbox" checked={withPath} onChange={togglePath} /> critical path
          </label>
        )}
        <button onClick={() => picture("timeline")}>Save PNG</button>
        <span class="aside" role="status">
          {milliseconds(span / 1e3)} of {milliseconds(timeline.span_us / 1e3)}
          {found && `; ${found.count.toLocaleString("en")} match, ${milliseconds(found.total_us / 1e3)} (n, p: the next, the one before)`}
          {withPath && path?.kinds && ` · critical path ${milliseconds(path.total_us / 1e3)}`}
          {drawn.waiting && " · reading …"}
        </span>
      </header>
      <p class="aside">
        Ctrl and wheel or W S zoom, drag or A D pan, Shift and drag selects a stretch and sums it; ? lists all keys.
        {drawn.coarse && ` This file holds no more detail here: ${summary.command}`}
        {tiles.problem && ` Something is missing: ${tiles.problem}.`}
      </p>
      <div class="drawing">
        <canvas ref={canvas} tabIndex={0} role="application" data-from={range.from} data-to={range.to} data-boxes={drawn.parts.length} data-waiting={drawn.waiting} data-arrows={leads.length} data-path={withPath && path?.kinds ? path.lane.length : 0}
          aria-label="timeline: W and S zoom, A and D pan, full stop and comma choose the next event and the one before, f shows it" onKeyDown={keys} onWheel={wheel}
          onMouseDown={(e) => (drag.current = { x: e.clientX, y: e.clientY, range, top, selects: e.shiftKey, moved: false })}
          onMouseMove={(e) => {
            const d = drag.current;
            if (!d) {
              const { box } = at(e);
              setOver(box && { box, x: e.offsetX, y: e.offsetY });
              return;
            }
            const width = canvas.current!.clientWidth - gutter;
            const us = ((e.clientX - d.x) / width) * span;
            if (Math.abs(e.clientX - d.x) + Math.abs(e.clientY - d.y) > 3) d.moved = true;
            if (d.selects) {
              const a = at(e).us;
              select({ from: Math.min(a, a - us), to: Math.max(a, a - us) });
            } else if (d.moved) {
              show(d.range.from - us, d.range.to - us);
              setTop(Math.max(0, Math.min(height - 60, d.top - (e.clientY - d.y))));
            }
          }}
          onMouseUp={(e) => {
            if (drag.current && !drag.current.moved) choose(at(e).box);
            drag.current = null;
          }}
          onMouseLeave={() => ((drag.current = null), setOver(null))} onDblClick={(e) => { const { box } = at(e); if (box) go(box, 1); }} />
        {over && (
          <div class="tip" style={{ left: `${Math.min(over.x + 14, canvas.current!.clientWidth - 330)}px`, top: `${Math.min(over.y + 16, canvas.current!.clientHeight - 70)}px` }}>
            <BoxText box={over.box} />
          </div>
        )}
      </div>
      <p class="chosen-box" role="status">
        {chosen ? (
          <>
            <BoxText box={chosen} /> <span class="aside">at {milliseconds(chosen.start / 1e3)} on {timeline.lanes[chosen.lane].group}, {timeline.lanes[chosen.lane].name}</span>{" "}
            <Leads box={chosen} call={call} timeline={timeline} follow={follow} />
          </>
        ) : (
          "Click an event, or choose one with the full stop key."
        )}
      </p>
      {selected && <SelectedSums sums={sumsOf(drawn.parts, selected, timeline)} range={selected} />}
    </div>
  );
}

function given(a: Address, whole: Range): Range {
  const from = Number(a.args.from), to = Number(a.args.to);
  return a.args.from && a.args.to && to > from && from >= 0 ? { from, to: Math.min(to, whole.to) } : whole;
}

function BoxText({ box }: { box: Box }) {
  return box.count > 1 ? (
    <>
      {box.count.toLocaleString("en")} events in {milliseconds(box.us / 1e3)}, busy {milliseconds(box.busy / 1e3)}; the longest: <bdi>{box.name}</bdi>
    </>
  ) : (
    <>
      <bdi>{box.name}</bdi> {milliseconds(box.us / 1e3)}
    </>
  );
}

function SelectedSums({ sums, range }: { sums: Sums; range: Range }) {
  const us = range.to - range.from;
  return (
    <section class="details" aria-label="sums of the selected stretch">
      <p>
        Selected: {milliseconds(us / 1e3)} from {milliseconds(range.from / 1e3)}. Times of events within it, by lane and name; an event's calls count in it too.
        {sums.merged > 0 && ` ${sums.merged.toLocaleString("en")} short events are drawn together here and stand in one line: zoom in to tell them apart.`}
      </p>
      <table class="sums-table">
        <thead>
          <tr><th>lane</th><th>name</th><th>events</th><th>time</th><th>of the stretch</th></tr>
        </thead>
        <tbody>
          {sums.rows.map((r) => (
            <tr>
              <td>{r.lane}</td>
              <td><bdi>{r.name}</bdi></td>
              <td class="number">{r.count.toLocaleString("en")}</td>
              <td class="number">{milliseconds(r.us / 1e3)}</td>
              <td class="number">{percent(r.us / us)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
