// What the chosen event of the timeline leads to: its launch or its work, its forward or backward, the same collective on other ranks.

import { milliseconds } from "./format";
import { Arrow, Shared, Timeline } from "./payload";
import { Box } from "./timelinedraw";

/** The other end of an arrow. */
export interface End {
  to: string;
  lane: number;
  row: number;
  start_us: number;
  us: number;
}

const near = 2e-3;

/** The calls of a collective on all ranks, and which of them an event is. */
export interface Call {
  shared: Shared;
  first: number;
  end: number;
  at: number;
}

/** The collective call that a box is; null where it is none that all ranks hold. */
export function callOf(shared: Shared | undefined, box: Box | null): Call | null {
  if (!shared?.call || !box || box.count > 1) return null;
  const at = shared.start_us.findIndex((us, i) => shared.lane[i] === box.lane && shared.row[i] === box.row && Math.abs(us - box.start) < near);
  if (at < 0) return null;
  let first = at, end = at + 1;
  while (first > 0 && shared.call[first - 1] === shared.call[at]) first--;
  while (end < shared.call.length && shared.call[end] === shared.call[at]) end++;
  return { shared, first, end, at };
}

const endOf = (s: Shared, i: number): End => ({ to: "rank", lane: s.lane[i], row: s.row[i], start_us: s.start_us[i], us: s.us[i] });

/** All that is drawn for an event. */
export function ends(box: Box | null, call: Call | null): End[] {
  const list: End[] = [...(box?.arrows ?? [])];
  if (call) for (let i = call.first; i < call.end; i++) if (i !== call.at) list.push(endOf(call.shared, i));
  return list;
}

/** The end that a key leads to: l to launch or work, b to forward or backward, g to the next rank. */
export function endBy(key: string, box: Box | null, call: Call | null): End | undefined {
  if (key === "g") return call ? endOf(call.shared, call.at + 1 < call.end ? call.at + 1 : call.first) : undefined;
  const wanted = key === "l" ? ["launch", "work"] : ["forward", "backward"];
  return box?.arrows.find((a: Arrow) => wanted.includes(a.to));
}

const words: Record<string, string> = { launch: "to its launch (l)", work: "to its work on the device (l)", forward: "to its forward (b)", backward: "to its backward (b)" };

/** The same in words, with a button for each. */
export function Leads({ box, call, timeline, follow }: { box: Box; call: Call | null; timeline: Timeline; follow: (e: End) => void }) {
  const next = endBy("g", box, call);
  return (
    <>
      {box.arrows.map((a) => (
        <>
          <button onClick={() => follow(a)}>{words[a.to]}</button>{" "}
        </>
      ))}
      {call && next && (
        <>
          <span class="aside">
            on {call.end - call.first} ranks; {milliseconds(call.shared.wait_us[call.at] / 1e3)} of it until the last of them begins
          </span>{" "}
          <button onClick={() => follow(next)}>
            to {timeline.lanes[next.lane].group} (g)
          </button>
        </>
      )}
    </>
  );
}
