// A table of any length: only the rows in sight are in the document.

import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Address, refine, write } from "./address";
import { copy, save } from "./clipboard";
import { Filter } from "./filter";
import { count } from "./format";
import { onKeys } from "./keys";
import { Column, Summary, Table } from "./payload";
import { csv, groupable, grouped, isText, Shown, shown, textOf } from "./rows";

/** The height of a row in pixels; the style sheet has the same. */
const rowHeight = 24;
/** Rows drawn beyond the edges, so that a fast scroll meets no blank. */
const beyond = 30;

/** A table as a view, or within a view of pictures. */
export function TableView({ table, address, summary, within }: { table: Table; address: Address; summary: Summary; within?: boolean }) {
  const { find = "", sort = "", group = "" } = address.args;
  const groups = useMemo(() => groupable(table), [table]);
  const base = useMemo(() => (group ? grouped(table, group) : table), [table, group]);
  const rows = useMemo(() => shown(base, find, sort), [base, find, sort]);
  const [said, say] = useState("");
  const name = table.name + ".csv";
  const there = summary.views.some((v) => v.id === table.name && v.kind === "table");
  return (
    <div class={within ? "within" : "view"}>
      <header class="tools">
        {within ? <h2>{there ? <a href={write({ view: table.name, args: {} })}>{table.title}</a> : table.title}</h2> : <h1>{table.title}</h1>}
        {!within && <Filter find={find} label="filter" />}
        {groups.length > 0 && (
          <label>
            group by{" "}
            <select value={group} onChange={(e) => refine({ group: e.currentTarget.value, sort: "" })}>
              <option value="">nothing</option>
              {groups.map((c) => (
                <option value={c.head}>{c.head}</option>
              ))}
            </select>
          </label>
        )}
        <button onClick={async () => say((await copy(csv(rows))) ? "copied" : "this browser does not let the page copy; save it instead")}>Copy CSV</button>
        <button onClick={() => save(name, "text/csv", csv(rows))}>Save CSV</button>
        <span class="aside" role="status">
          {said || `${count(rows.order.length)}${rows.order.length < base.rows ? " of " + count(base.rows) : ""} ${base.rows === 1 ? "row" : "rows"}`}
        </span>
      </header>
      {table.aside && <p class="aside">{table.aside}</p>}
      <Grid table={base} rows={rows} sort={sort} summary={summary} height={within ? Math.min(rows.order.length + 3, 14) * rowHeight : 0} />
    </div>
  );
}

/** Column widths in pixels: texts get what numbers leave. */
function widths(columns: Column[], rows: number): string {
  const of = (c: Column, i: number) => {
    if (!isText(c)) return "minmax(5.5rem, max-content)";
    let longest = c.head.length;
    for (let k = 0; k < Math.min(rows, 200); k++) longest = Math.max(longest, c.texts![k].length);
    const ch = Math.min(Math.max(longest + 2, 6), i === 0 ? 48 : 30);
    return `minmax(${Math.min(ch, 14)}ch, ${ch}ch)`;
  };
  return columns.map(of).join(" ");
}

/** The rows; height is 0 where they fill what there is. */
function Grid({ table, rows, sort, summary, height }: { table: Table; rows: Shown; sort: string; summary: Summary; height: number }) {
  const box = useRef<HTMLDivElement>(null);
  const [window, setWindow] = useState({ top: 0, height: 600 });
  const [chosen, choose] = useState(-1);
  const [open, setOpen] = useState(false);
  useLayoutEffect(() => {
    const e = box.current!;
    const update = () => setWindow({ top: e.scrollTop, height: e.clientHeight });
    update();
    const seen = new ResizeObserver(update);
    seen.observe(e);
    e.addEventListener("scroll", update, { passive: true });
    return () => (seen.disconnect(), e.removeEventListener("scroll", update));
  }, []);
  useLayoutEffect(() => {
    choose(-1);
    setOpen(false);
    box.current!.scrollTop = 0;
  }, [rows]);
  const move = (to: number) => {
    to = Math.max(0, Math.min(rows.order.length - 1, to));
    choose(to);
    const e = box.current!;
    const top = to * rowHeight;
    if (top < e.scrollTop) e.scrollTop = top;
    else if (top + 3 * rowHeight > e.scrollTop + e.clientHeight) e.scrollTop = top + 3 * rowHeight - e.clientHeight;
  };
  const page = Math.max(1, Math.floor(window.height / rowHeight) - 3);
  const keys = onKeys({
    ArrowDown: () => move(chosen + 1), j: () => move(chosen + 1), ArrowUp: () => move(chosen - 1), k: () => move(chosen - 1),
    PageDown: () => move(chosen + page), PageUp: () => move(chosen - page), Home: () => move(0), End: () => move(rows.order.length - 1),
    Enter: () => setOpen(chosen >= 0 && !open), Escape: () => setOpen(false),
  });
  // The browser tells late that it scrolled back when the rows became fewer.
  const top = Math.max(0, Math.min(window.top, rows.order.length * rowHeight - window.height));
  const first = Math.max(0, Math.floor(top / rowHeight) - beyond);
  const last = Math.min(rows.order.length, Math.ceil((top + window.height) / rowHeight) + beyond);
  const most = useMemo(() => rows.columns.map((c) => (c.bar ? c.values!.reduce<number>((m, v) => Math.max(m, Math.abs(v ?? 0)), 0) : 0)), [rows]);
  const template = useMemo(() => ({ gridTemplateColumns: widths(rows.columns, table.rows) }), [rows.columns]);
  const drawn = rows.order.slice(first, last);
  return (
    <>
      <div class="grid" ref={box} style={height ? { height: `${height}px`, flex: "none" } : undefined} role="grid" aria-label={table.title} aria-rowcount={rows.order.length + 1} aria-colcount={rows.columns.length} tabIndex={0}
        aria-activedescendant={chosen >= first && chosen < last ? "row" + chosen : undefined} onKeyDown={keys} data-first={first}>
        <div class="cells" style={template} role="presentation">
          <Heads columns={rows.columns} table={table} sort={sort} />
          {first > 0 && <div class="gap" role="presentation" style={{ height: `${first * rowHeight}px` }} />}
          {drawn.map((row, i) => (
            <Row key={row} columns={rows.columns} row={row} index={first + i} most={most} chosen={first + i === chosen}
              onClick={() => (setOpen(first + i !== chosen || !open), choose(first + i))} />
          ))}
          {last < rows.order.length && <div class="gap" role="presentation" style={{ height: `${(rows.order.length - last) * rowHeight}px` }} />}
          <Sums rows={rows} />
        </div>
        {rows.order.length === 0 && <p class="message">No row holds what the filter asks for.</p>}
      </div>
      {open && chosen >= 0 && chosen < rows.order.length && <Details columns={rows.columns} row={rows.order[chosen]} summary={summary} close={() => setOpen(false)} />}
    </>
  );
}

function Heads({ columns, table, sort }: { columns: Column[]; table: Table; sort: string }) {
  const now = sort.replace(/^-/, "") || table.columns[table.sort]?.head;
  const next = (c: Column) => refine({ sort: c.head === now && !sort.startsWith("-") ? "-" + c.head : c.head });
  return (
    <div class="row head" role="row" aria-rowindex={1}>
      {columns.map((c) => {
        const by = c.head === now;
        const down = isText(c) === sort.startsWith("-");
        return (
          <span role="columnheader" class={isText(c) ? "" : "right"} aria-sort={!by ? "none" : down ? "descending" : "ascending"}>
            <button onClick={() => next(c)} title={`order by ${c.head}`}>
              {c.head}
              {by ? (down ? " ▾" : " ▴") : ""}
            </button>
          </span>
        );
      })}
    </div>
  );
}

function Row(props: { columns: Column[]; row: number; index: number; most: number[]; chosen: boolean; onClick: () => void }) {
  const { columns, row, index, most } = props;
  return (
    <div class={"row" + (props.chosen ? " chosen" : index % 2 ? " odd" : "")} role="row" id={"row" + index} aria-rowindex={index + 2} aria-selected={props.chosen} onClick={props.onClick}>
      {columns.map((c, i) => {
        const text = textOf(c, row);
        if (isText(c)) return <span role="gridcell" class={c.unit === "place" ? "tail" : ""} title={text}><bdi>{text}</bdi></span>;
        return (
          <span role="gridcell" class="right">
            {c.bar && most[i] > 0 && <i style={{ width: `${(Math.abs(c.values![row] ?? 0) / most[i]) * 100}%` }} />}
            <b>{text}</b>
          </span>
        );
      })}
    </div>
  );
}

function Sums({ rows }: { rows: Shown }) {
  if (!rows.sums.some((s) => s !== null)) return null;
  return (
    <div class="row sums" role="row" aria-rowindex={rows.order.length + 2}>
      {rows.columns.map((c, i) => (
        <span role="gridcell" class={isText(c) ? "" : "right"}>
          {i === 0 && rows.sums[i] === null ? "sum" : rows.sums[i] === null ? "" : textOf({ ...c, values: [rows.sums[i]] }, 0)}
        </span>
      ))}
    </div>
  );
}

/** One row in full, with what it leads to. */
function Details({ columns, row, summary, close }: { columns: Column[]; row: number; summary: Summary; close: () => void }) {
  const there = (id: string) => summary.views.some((v) => v.id === id);
  return (
    <section class="details" aria-label="the row in full">
      <button class="close" onClick={close} aria-label="close">
        ×
      </button>
      <dl>
        {columns.map((c) => {
          const text = textOf(c, row);
          if (text === "" || text === "-") return null;
          return (
            <>
              <dt>{c.head}</dt>
              <dd>
                <bdi>{text}</bdi> {c.find && there("timeline") && <a href={write({ view: "timeline", args: { find: text } })}>in the timeline</a>}
                {c.find && there("flame-operators") && <a href={write({ view: "flame-operators", args: { find: text } })}>in the flame graph</a>}
                {c.unit === "place" && there("source") && <SourceLink place={text} />}
              </dd>
            </>
          );
        })}
      </dl>
    </section>
  );
}

function SourceLink({ place }: { place: string }) {
  const m = /^(.*):(\d+)$/.exec(place);
  return m ? <a href={write({ view: "source", args: { file: m[1], line: m[2] } })}>its source</a> : null;
}
