// What a step would take if something were gone, faster or slower: switches, and the replayed step beside the measured one.

import { Address, refine } from "./address";
import { ChartView } from "./chart";
import { has, isFile } from "./data";
import { milliseconds, percent } from "./format";
import { Part } from "./part";
import { Answer, Summary, Switch, Switches } from "./payload";

export function WhatIfView({ switches, address, summary }: { switches: Switches; address: Address; summary: Summary }) {
  const on = (address.args.on ?? "").split(",").filter((key) => switches.switches.some((s) => s.key === key));
  const set = (keys: string[]) => refine({ on: switches.switches.map((s) => s.key).filter((key) => keys.includes(key)).join(",") });
  const groups = new Map<string, Switch[]>();
  for (const s of switches.switches) groups.set(s.group, [...(groups.get(s.group) ?? []), s]);
  const scales = [...groups].filter(([g]) => g.startsWith("scale "));
  const part = "what-if/" + (on.join(",") || "nothing");
  return (
    <div class="panels what-if">
      <h1>What if</h1>
      {switches.note && <p class="message">{switches.note}</p>}
      {switches.basis && <p class="aside">a replay of the {switches.basis} on the graph of what waits for what; changes can be joined</p>}
      <fieldset>
        <legend>Without</legend>
        {(groups.get("gone") ?? []).map((s) => (
          <label class="switch">
            <input type="checkbox" role="switch" checked={on.includes(s.key)} onChange={() => set(on.includes(s.key) ? on.filter((k) => k !== s.key) : [...on, s.key])} />
            <span>{s.text}</span>
          </label>
        ))}
        {!groups.has("gone") && <span class="aside">nothing that is known to be removable takes time</span>}
      </fieldset>
      {groups.has("workers") && <Choice label="DataLoader workers" list={groups.get("workers")!} on={on} set={set} />}
      {scales.length > 0 && (
        <details open={scales.some(([, list]) => list.some((s) => on.includes(s.key)))}>
          <summary>Faster or slower work</summary>
          {scales.map(([group, list]) => (
            <Choice label={group.slice("scale ".length)} list={list} on={on} set={set} />
          ))}
        </details>
      )}
      {!switches.note &&
        (isFile && !has(part) ? (
          <p class="message">This file holds no answer to these changes together: {summary.command}</p>
        ) : (
          <Part name={part} key={part}>{(answer: Answer) => <Answered answer={answer} />}</Part>
        ))}
    </div>
  );
}

/** One of several changes that exclude each other, or none. */
function Choice({ label, list, on, set }: { label: string; list: Switch[]; on: string[]; set: (keys: string[]) => void }) {
  const keys = list.map((s) => s.key);
  return (
    <label class="choice">
      {label}{" "}
      <select value={keys.find((k) => on.includes(k)) ?? ""} onChange={(e) => set([...on.filter((k) => !keys.includes(k)), ...(e.currentTarget.value ? [e.currentTarget.value] : [])])}>
        <option value="">as recorded</option>
        {list.map((s) => (
          <option value={s.key}>{s.text}</option>
        ))}
      </select>
    </label>
  );
}

function Answered({ answer }: { answer: Answer }) {
  const d = answer.document!;
  const sentence = answer.sentence.charAt(0).toUpperCase() + answer.sentence.slice(1);
  return (
    <section aria-live="polite">
      <p class="answer">{sentence}.</p>
      <ChartView chart={answer.chart} />
      <table class="sums-table">
        <thead>
          <tr><th>where the {d.unit} goes</th><th class="number">measured</th><th class="number">replayed</th></tr>
        </thead>
        <tbody>
          {d.parts.filter((p) => Math.max(p.before_ms, p.after_ms) >= 0.005 * d.before_ms).map((p) => (
            <tr>
              <td>{p.of ? `${p.part}, ${p.of}` : p.part}</td>
              <td class="number">{milliseconds(p.before_ms)}</td>
              <td class="number">{milliseconds(p.after_ms)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="aside">
        The unmodified replay is {percent(Math.abs(d.replay_error))} off the recording; {percent(d.slack)} of the {d.unit} is slack.
      </p>
      {d.notes.map((n) => (
        <p class="aside">{n}</p>
      ))}
    </section>
  );
}
