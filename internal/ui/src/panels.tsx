// A view of pictures, with its tables below.

import { Address, write } from "./address";
import { ChartView } from "./chart";
import { Part } from "./part";
import { Panels, Summary, Table } from "./payload";
import { TableView } from "./table";

export function PanelsView({ panels, address, summary }: { panels: Panels; address: Address; summary: Summary }) {
  return (
    <div class="panels">
      <h1>{panels.title}</h1>
      {panels.aside && <p>{panels.aside}</p>}
      {panels.charts.map((c) => (
        <ChartView chart={c} />
      ))}
      {panels.tables.map((name) => (
        <Part name={name} key={name}>
          {(table: Table) => <TableView table={table} address={address} summary={summary} within />}
        </Part>
      ))}
      {panels.charts.length + panels.tables.length === 0 && <p class="message">Nothing was recorded for this. <a href={write({ view: "verdict", args: {} })}>The verdict</a></p>}
    </div>
  );
}
