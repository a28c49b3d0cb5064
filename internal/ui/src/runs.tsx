// A folder of several runs: their verdicts, each leading to its own page.

import { useEffect } from "preact/hooks";
import { milliseconds } from "./format";
import { Run, Summary } from "./payload";

export function RunsView({ summary, runs }: { summary: Summary; runs: Run[] }) {
  useEffect(() => {
    document.title = `bottleneck: ${summary.title}`;
  }, [summary.title]);
  const unread = runs.filter((r) => !r.read).length;
  return (
    <main class="runs">
      <h1>
        {runs.length} runs in <bdi>{summary.title}</bdi>
      </h1>
      <p class="aside" role="status">{unread > 0 ? `reading: ${unread} to go` : "the newest first"}</p>
      <table>
        <thead>
          <tr><th>run</th><th>begun</th><th>program</th><th class="number">step</th><th>verdict</th></tr>
        </thead>
        <tbody>
          {runs.map((r, i) => (
            <tr>
              <td><a href={`run/${i}/`}>{r.name}</a></td>
              <td>{r.begun_unix_ns ? new Date(r.begun_unix_ns / 1e6).toLocaleString() : ""}</td>
              <td><bdi>{r.title}</bdi></td>
              <td class="number">{r.step_ms !== undefined ? milliseconds(r.step_ms) : ""}</td>
              <td>{r.problem ? `Cannot be read: ${r.problem}` : r.read ? r.verdict : "reading …"}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </main>
  );
}
