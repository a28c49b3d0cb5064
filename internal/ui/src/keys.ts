// Keys: each view has its own, the page has some for all. None is taken while somebody types.

export type Keys = Record<string, () => void>;

/** A handler of key presses for an element. */
export function onKeys(keys: Keys): (e: KeyboardEvent) => void {
  return (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const act = Object.hasOwn(keys, e.key) ? keys[e.key] : undefined;
    if (!act || isTyping(e.target)) return;
    e.preventDefault();
    e.stopPropagation();
    act();
  };
}

export function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.matches("input, textarea, select") || target.isContentEditable);
}

/** What the help shows: keys and what they do. */
export const help: [string, string][] = [
  ["?", "this list"],
  ["/", "filter or search in the view"],
  ["[ and ]", "the view before, the view after"],
  ["v", "the verdict"],
  ["c", "colours: light, dark, as the system has it"],
  ["↑ ↓, j k", "tables: the row above, below; also Page Up, Page Down, Home, End"],
  ["Enter", "tables: the row in full, with what it leads to; pictures: zoom into what is chosen"],
  ["Esc", "close, or zoom out"],
  ["arrows, s", "flame graphs: the box above, below, beside; its callers and callees"],
  ["← →, Enter", "charts: the value before, the next; its place in the timeline"],
  ["W S, + −", "timeline: zoom in, out; also Ctrl and the wheel, or the wheel over the ruler"],
  ["A D, ← →", "timeline: pan; also drag, or Shift and the wheel"],
  [". and ,", "timeline: the next event of the row, the one before"],
  ["f, Enter", "timeline: zoom to the chosen event"],
  ["l", "timeline: from a launch to its work on the device, and back"],
  ["b", "timeline: from an operator to its backward, and back"],
  ["g", "timeline: the same collective on the next rank"],
  ["n p", "timeline: the next match of the search, the one before"],
  ["m", "timeline: sums of the chosen event's stretch, or of what is in sight; also Shift and drag"],
  ["x", "timeline: the critical path; { and } go along it"],
  ["0", "timeline: the whole"],
];
