// The first view: the answer, where the step goes, and the findings.

import { write } from "./address";
import { base, milliseconds, percent } from "./format";
import { Card, Link, Part, Saving, Summary, Where } from "./payload";

export function Verdict({ summary }: { summary: Summary }) {
  const v = summary.verdict;
  return (
    <div class="verdict">
      <h1>{v.sentence.charAt(0).toUpperCase() + v.sentence.slice(1)}</h1>
      <p class="aside">
        Confidence: {v.confidence.level} ({v.confidence.why})
      </p>
      <Step summary={summary} />
      <Findings cards={summary.findings} />
      <Notes title="What is missing" lines={summary.notes} />
      <Notes title="To look further" lines={summary.next} code />
    </div>
  );
}

function Notes(props: { title: string; lines: string[]; code?: boolean }) {
  if (props.lines.length === 0) return null;
  return (
    <section>
      <h2>{props.title}</h2>
      <ul class="notes">
        {props.lines.map((l) => (
          <li>{props.code ? <code>{l}</code> : l}</li>
        ))}
      </ul>
    </section>
  );
}

/** Shares from which a part is worth a line. */
const partShare = 0.0005;
const subShare = 0.01;
/** What is left below this share is what rounding leaves. */
const nothing = 5e-6;

function Step({ summary }: { summary: Summary }) {
  const a = summary.account;
  const parts = summary.breakdown.filter((p) => p.share >= partShare || p.part === "unknown").map((p) => (p.share < nothing ? { ...p, ms: 0, share: 0 } : p));
  if (!a || parts.length === 0) return null;
  return (
    <section aria-labelledby="where">
      <h2 id="where">
        Where the {a.kind ? `${a.kind} ${a.unit}` : a.unit} goes{" "}
        <span class="aside">
          {milliseconds(a.total_ms)}, {a.process}; {a.basis}
        </span>
      </h2>
      <div class="bar" role="img" aria-label={parts.map((p) => `${p.part} ${percent(p.share)}`).join(", ")}>
        {parts.map((p, i) => (
          <span class={"segment " + colour(p, i)} style={{ flexGrow: String(Math.max(p.share, 0)) }} title={`${p.part}: ${milliseconds(p.ms)}, ${percent(p.share)}`} />
        ))}
      </div>
      <div class="parts">
        {parts.map((p, i) => (
          <PartLines part={p} colour={colour(p, i)} />
        ))}
      </div>
      {a.notes.map((n) => (
        <p class="aside">{n}</p>
      ))}
    </section>
  );
}

function colour(p: Part, i: number): string {
  return p.part === "unknown" ? "unknown" : "c" + (i % 8);
}

function PartLines({ part, colour }: { part: Part; colour: string }) {
  const subs = (part.of ?? []).filter((s) => s.share >= subShare);
  return (
    <div class="part">
      <div class="line">
        <span class={"swatch " + colour} />
        <span class="name">{part.part}</span>
        <span class="number">{milliseconds(part.ms)}</span>
        <span class="number">{percent(part.share)}</span>
      </div>
      {subs.map((s) => (
        <div class="line sub">
          <span />
          <span class="name">{s.part}</span>
          <span class="number">{milliseconds(s.ms)}</span>
          <span class="number">{percent(s.share)}</span>
        </div>
      ))}
    </div>
  );
}

function Findings({ cards }: { cards: Card[] }) {
  return (
    <section aria-labelledby="findings">
      <h2 id="findings">
        Findings {cards.length > 0 && <span class="aside">savings are estimates; the first fix can change the others</span>}
      </h2>
      {cards.length === 0 && <p>None.</p>}
      {cards.map((c, i) => (
        <Finding card={c} number={i + 1} />
      ))}
    </section>
  );
}

function Finding({ card, number }: { card: Card; number: number }) {
  return (
    <article class="card" aria-labelledby={"finding" + number}>
      <h3 id={"finding" + number}>
        {number}. {card.title} <span class="tag">{card.cause}</span>
      </h3>
      <Place where={card.where} />
      {card.saving && <Range saving={card.saving} />}
      <ul class="evidence">
        {card.evidence.map((e) => (
          <li>{e}</li>
        ))}
      </ul>
      {card.because && (
        <p>
          Because: {card.because} {card.because_where && <Place where={card.because_where} />}
        </p>
      )}
      <Fix card={card} />
      {card.caveat && <p class="aside">But: {card.caveat}</p>}
      {card.basis && <p class="aside">Basis: {card.basis}</p>}
      {card.show.length > 0 && (
        <p class="show">
          Show me:{" "}
          {card.show.map((l) => (
            <a href={target(l)}>{l.text}</a>
          ))}
        </p>
      )}
    </article>
  );
}

/** The address that a link leads to. */
function target(l: Link): string {
  const args: Record<string, string> = {};
  if (l.find) args.find = l.find;
  if (l.file) args.file = l.file;
  if (l.line) args.line = String(l.line);
  if (l.from_us !== undefined) args.from = String(l.from_us);
  if (l.to_us !== undefined) args.to = String(l.to_us);
  return write({ view: l.view, args });
}

function Place({ where }: { where: Where }) {
  const about = [where.function, where.rank !== undefined ? `rank ${where.rank}` : "", where.process].filter(Boolean).join(" · ");
  if (!where.file) {
    const name = where.op || where.kernel || where.module;
    return name || about ? (
      <p class="place">
        {name && <code>{name}</code>} {about}
      </p>
    ) : null;
  }
  return (
    <div class="place">
      <span class="file" title={where.file}>
        {where.file}
        {where.line ? ":" + where.line : ""}
      </span>{" "}
      {about}
      {where.source && (
        <pre class="source">
          <span class="number">{where.line}</span>
          {where.source}
        </pre>
      )}
    </div>
  );
}

/** The saving with its range, drawn to the scale of what it is saved from. */
function Range({ saving: s }: { saving: Saving }) {
  const whole = Math.max(s.whole_ms, s.high, 1e-9);
  const at = (ms: number) => `${(Math.max(ms, 0) / whole) * 100}%`;
  return (
    <div class="saving">
      <div class="scale" role="img" aria-label={`saves ${s.text}`}>
        <span class="between" style={{ left: at(s.low), width: at(s.high - s.low) }} />
        <span class="best" style={{ left: at(s.mid) }} />
      </div>
      <div>
        Saves {s.text}
        {s.after && <div class="aside">{s.after}</div>}
      </div>
    </div>
  );
}

function Fix({ card }: { card: Card }) {
  const f = card.fix;
  if (!f.text && !f.change) return null;
  return (
    <div class="fix">
      {f.text && <p>Fix: {f.text}</p>}
      {f.change && (
        <pre class="diff">
          {f.where && (
            <span class="aside" title={f.where.file}>
              {base(f.where.file)}:{f.where.line}
              {"\n"}
            </span>
          )}
          {f.was && <del>- {f.was + "\n"}</del>}
          <ins>+ {f.change}</ins>
        </pre>
      )}
    </div>
  );
}

