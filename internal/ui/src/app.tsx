// The page: the list of views at the left, the view that the address names beside it.

import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { Address, go, useAddress, verdict, write } from "./address";
import { forget, fresh, has, isFile } from "./data";
import { FlameView } from "./flame";
import { count, milliseconds } from "./format";
import { help, isTyping } from "./keys";
import { PanelsView } from "./panels";
import { Part } from "./part";
import { Panels, Sources, Summary, Switches, Table, Timeline, View } from "./payload";
import { RunsView } from "./runs";
import { SourceView } from "./source";
import { TableView } from "./table";
import { TimelineView } from "./timeline";
import { Verdict } from "./verdict";
import { WhatIfView } from "./whatif";

/** How often a session that grows, or a list whose verdicts are being read, is asked for again. */
const every = 2000;

export function App() {
  const [summary, set] = useState<Summary | null>(null);
  const [error, fail] = useState("");
  useEffect(() => {
    let timer = 0, now: Summary | null = null;
    const ask = () =>
      fresh<Summary>("summary").then(
        (s) => {
          if (now && (s.generation !== now.generation || s.problem !== now.problem)) forget();
          if (!now || s.generation !== now.generation || s.problem !== now.problem) set((now = s));
          fail("");
          if (!isFile && (s.growing || s.runs?.some((r) => !r.read))) timer = setTimeout(ask, every) as unknown as number;
        },
        (e) => {
          fail(String(e.message ?? e));
          if (now) timer = setTimeout(ask, 2 * every) as unknown as number;
        },
      );
    ask();
    return () => clearTimeout(timer);
  }, []);
  if (!summary) return error ? <p class="message" role="alert">This cannot be shown: {error}.</p> : <p class="message" role="status">Reading …</p>;
  return summary.runs ? <RunsView summary={summary} runs={summary.runs} /> : <Page summary={error ? { ...summary, problem: error } : summary} />;
}

const schema = "bottleneck.page/1";

function Page({ summary }: { summary: Summary }) {
  const address = useAddress();
  const [helping, setHelping] = useState(false);
  const ids = [verdict, ...summary.views.filter((v) => !v.within).map((v) => v.id)];
  useEffect(() => {
    document.title = `bottleneck: ${summary.title}`;
  }, []);
  useLayoutEffect(() => {
    const press = (e: KeyboardEvent) => {
      if (e.ctrlKey || e.metaKey || e.altKey) return;
      if (e.key === "Escape") {
        setHelping(false);
        if (isTyping(e.target)) (e.target as HTMLElement).blur();
        return;
      }
      if (isTyping(e.target)) return;
      const step = (by: number) => go({ view: ids[(ids.indexOf(address.view) + by + ids.length) % ids.length], args: {} });
      const keys: Record<string, () => void> = {
        "?": () => setHelping(true),
        "/": () => document.querySelector<HTMLElement>("[data-filter]")?.focus(),
        "[": () => step(-1),
        "]": () => step(1),
        v: () => go({ view: verdict, args: {} }),
        c: nextColours,
      };
      if (!Object.hasOwn(keys, e.key)) return;
      e.preventDefault();
      keys[e.key]();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });
  if (summary.schema !== schema) return <p class="message">This page reads {schema}, the data are {summary.schema}: reload it.</p>;
  return (
    <div class="page">
      <Views summary={summary} now={address.view} help={() => setHelping(true)} />
      <main id="view" tabIndex={-1}>
        {summary.problem && <p class="message problem" role="alert">{summary.problem}</p>}
        <Shown key={summary.generation} summary={summary} address={address} />
      </main>
      {helping && <Help close={() => setHelping(false)} />}
    </div>
  );
}

function Views({ summary, now, help }: { summary: Summary; now: string; help: () => void }) {
  const groups = new Map<string, View[]>();
  for (const v of summary.views) if (!v.within) groups.set(v.group, [...(groups.get(v.group) ?? []), v]);
  return (
    <nav aria-label="views">
      <p class="title" title={summary.title}>
        bottleneck
        <bdi>{summary.title}</bdi>
      </p>
      {summary.in_list && <a href="../../">All runs</a>}
      {summary.growing && <SoFarText of={summary} />}
      <Entry id={verdict} title="Verdict" now={now} />
      {[...groups].map(([group, views]) => (
        <>
          <h2>{group}</h2>
          {views.map((v) => (
            <Entry id={v.id} title={v.title} now={now} />
          ))}
        </>
      ))}
      <p class="below">
        <button onClick={help}>Keys ?</button> <button onClick={nextColours}>Colours</button>
      </p>
    </nav>
  );
}

/** What a run that goes on has done. */
function SoFarText({ of }: { of: Summary }) {
  const s = of.so_far;
  return (
    <p class="so-far" role="status">
      <b>running</b>
      {s && s.steps > 0 && <span>{count(s.steps)} steps</span>}
      {s?.step_ms !== undefined && <span>{milliseconds(s.step_ms)} a step</span>}
      {s?.wait_ms !== undefined && <span>{milliseconds(s.wait_ms)} data wait</span>}
    </p>
  );
}

function Entry({ id, title, now }: { id: string; title: string; now: string }) {
  return (
    <a href={write({ view: id, args: {} })} aria-current={id === now ? "page" : undefined}>
      {title}
    </a>
  );
}

function Shown({ summary, address }: { summary: Summary; address: Address }) {
  if (address.view === verdict) return <Verdict summary={summary} />;
  const view = summary.views.find((v) => v.id === address.view);
  if (!view || !has(view.part)) {
    return (
      <p class="message">
        There is no view “{address.view}” of this session. <a href={write({ view: verdict, args: {} })}>The verdict</a>
      </p>
    );
  }
  if (view.kind === "flame") return <FlameView key={view.part} part={view.part} address={address} summary={summary} />;
  return (
    <Part name={view.part} key={view.part}>
      {(value: unknown) => {
        if (view.kind === "source") return <SourceView sources={value as Sources} address={address} />;
        if (view.kind === "timeline") return <TimelineView timeline={value as Timeline} address={address} summary={summary} />;
        if (view.kind === "panels") return <PanelsView panels={value as Panels} address={address} summary={summary} />;
        if (view.kind === "what-if") return <WhatIfView switches={value as Switches} address={address} summary={summary} />;
        return <TableView table={value as Table} address={address} summary={summary} />;
      }}
    </Part>
  );
}

function Help({ close }: { close: () => void }) {
  return (
    <div class="help" role="dialog" aria-modal="true" aria-labelledby="keys">
      <h2 id="keys">Keys</h2>
      <dl>
        {help.map(([key, what]) => (
          <>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </>
        ))}
      </dl>
      <button autofocus onClick={close} ref={(e) => e?.focus()}>
        Close
      </button>
    </div>
  );
}

const colours = ["", "light", "dark"];

function nextColours(): void {
  const root = document.documentElement;
  const next = colours[(colours.indexOf(root.dataset.colours ?? "") + 1) % colours.length];
  root.dataset.colours = next;
  dispatchEvent(new Event("colours"));
}
