// What a table shows of its rows: those that the filter leaves, grouped, in the order of a column.

import { Column, Table } from "./payload";
import { cell } from "./format";

/** A table ready to draw: order holds the numbers of its rows. */
export interface Shown {
  columns: Column[];
  order: number[];
  /** Sums of the rows that are shown, by column; null where values do not add up. */
  sums: (number | null)[];
}

export const isText = (c: Column) => c.unit === "text" || c.unit === "place";

/** A cell as it is shown. */
export function textOf(c: Column, row: number): string {
  return isText(c) ? (c.texts?.[row] ?? "") : cell(c.values?.[row] ?? null, c.unit);
}

/** The columns by which rows can be put together: texts that occur more than once. */
export function groupable(t: Table): Column[] {
  if (!t.columns.some((c) => c.sum)) return [];
  return t.columns.filter((c) => c.texts && new Set(c.texts).size < t.rows);
}

/** Rows with the same text in the column by, as one row each; only what adds up is kept. */
export function grouped(t: Table, by: string): Table {
  const key = t.columns.find((c) => c.head === by && c.texts);
  if (!key) return t;
  const index = new Map<string, number>();
  const of = key.texts!.map((text) => {
    if (!index.has(text)) index.set(text, index.size);
    return index.get(text)!;
  });
  const rows = new Array<number>(index.size).fill(0);
  for (const g of of) rows[g]++;
  const columns: Column[] = [{ ...key, texts: [...index.keys()] }, { head: "rows", unit: "count", values: rows, sum: true }];
  for (const c of t.columns) {
    if (!c.sum || !c.values) continue;
    const values = new Array<number | null>(index.size).fill(null);
    c.values.forEach((v, i) => {
      if (v !== null) values[of[i]] = (values[of[i]] ?? 0) + v;
    });
    columns.push({ ...c, values });
  }
  return { ...t, columns, rows: index.size, sort: columns.findIndex((c) => c.bar) };
}

/** How rows are ordered: by a column's head, numbers from the largest; reversed where the head stands behind "-". */
export function shown(t: Table, find: string, sort: string): Shown {
  let order: number[] = [];
  const wanted = find.toLowerCase();
  const texts = t.columns.filter((c) => c.texts);
  for (let i = 0; i < t.rows; i++) {
    if (!wanted || texts.some((c) => c.texts![i].toLowerCase().includes(wanted))) order.push(i);
  }
  const reversed = sort.startsWith("-");
  const head = reversed ? sort.slice(1) : sort;
  const by = t.columns.find((c) => c.head === head) ?? t.columns[t.sort];
  if (by) order = ordered(order, by, reversed);
  const sums = t.columns.map((c) => {
    if (!c.sum || !c.values) return null;
    let sum = 0;
    for (const i of order) sum += c.values[i] ?? 0;
    return sum;
  });
  return { columns: t.columns, order, sums };
}

function ordered(order: number[], by: Column, reversed: boolean): number[] {
  const flip = reversed ? -1 : 1;
  if (by.values) {
    const v = by.values;
    const known = (i: number) => v[i] ?? -Infinity;
    return order.sort((a, b) => (known(b) - known(a) || 0) * flip || a - b);
  }
  const t = by.texts!;
  return order.sort((a, b) => (t[a] < t[b] ? -1 : t[a] > t[b] ? 1 : 0) * flip || a - b);
}

/** The rows that are shown as comma-separated values, with the raw numbers. */
export function csv(s: Shown): string {
  const quote = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const unit = (c: Column) => (["us", "bytes"].includes(c.unit) ? ` (${c.unit === "us" ? "µs" : "bytes"})` : "");
  const lines = [s.columns.map((c) => quote(c.head + unit(c))).join(",")];
  for (const i of s.order) lines.push(s.columns.map((c) => quote(c.texts ? c.texts[i] : String(c.values?.[i] ?? ""))).join(","));
  return lines.join("\r\n") + "\r\n";
}
