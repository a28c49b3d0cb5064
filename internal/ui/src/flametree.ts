// A tree of stacks: what is looked for in it, and the callers and callees of one frame.

import { Flame } from "./payload";

/** Boxes that are drawn: a tree as it came, or one made here. */
export type Boxes = Pick<Flame, "unit" | "names" | "places" | "frame" | "parent" | "depth" | "start_us" | "total_us" | "self_us" | "before_us">;

/** Which frames hold the text that is looked for, and how much time is in them, each moment counted once. */
export function matches(f: Boxes, find: string): { frames: boolean[]; total: number } {
  const wanted = find.toLowerCase();
  const frames = f.names.map((n, i) => wanted !== "" && (n.toLowerCase().includes(wanted) || f.places[i].toLowerCase().includes(wanted)));
  let total = 0;
  const within = new Array<boolean>(f.frame.length).fill(false);
  for (let i = 0; i < f.frame.length; i++) {
    const above = f.parent[i] >= 0 && within[f.parent[i]];
    within[i] = above || frames[f.frame[i]];
    if (within[i] && !above) total += f.total_us[i];
  }
  return { frames, total };
}

interface Node {
  frame: number;
  total: number;
  self: number;
  below: Map<number, Node>;
}

const node = (frame: number): Node => ({ frame, total: 0, self: 0, below: new Map() });

function child(of: Node, frame: number): Node {
  let n = of.below.get(frame);
  if (!n) of.below.set(frame, (n = node(frame)));
  return n;
}

/** All calls of one frame put together: what they call below, or, turned round, who calls them. A call within a call of itself counts once. */
export function sandwich(f: Boxes, frame: number, callers: boolean): Boxes {
  const root = node(frame);
  const at = new Array<Node | null>(f.frame.length).fill(null);
  for (let i = 0; i < f.frame.length; i++) {
    const above = f.parent[i] >= 0 ? at[f.parent[i]] : null;
    if (above) {
      at[i] = f.frame[i] === frame ? root : child(above, f.frame[i]);
      if (f.frame[i] === frame) continue;
      at[i]!.total += f.total_us[i];
      at[i]!.self += f.self_us[i];
    } else if (f.frame[i] === frame) {
      at[i] = root;
      root.total += f.total_us[i];
      root.self += f.self_us[i];
    }
  }
  return layout(f, callers ? callersOf(f, frame) : root);
}

function callersOf(f: Boxes, frame: number): Node {
  const root = node(frame);
  for (let i = 0; i < f.frame.length; i++) {
    if (f.frame[i] !== frame || isWithin(f, i, frame)) continue;
    root.total += f.total_us[i];
    let at = root;
    for (let k = f.parent[i]; k > 0; k = f.parent[k]) (at = child(at, f.frame[k])).total += f.total_us[i];
  }
  return root;
}

function isWithin(f: Boxes, i: number, frame: number): boolean {
  for (let k = f.parent[i]; k >= 0; k = f.parent[k]) if (f.frame[k] === frame) return true;
  return false;
}

/** Boxes of a tree, largest first. */
function layout(f: Boxes, root: Node): Boxes {
  const out: Boxes = { unit: f.unit, names: f.names, places: f.places, frame: [], parent: [], depth: [], start_us: [], total_us: [], self_us: [] };
  const place = (n: Node, parent: number, depth: number, start: number) => {
    const at = out.frame.push(n.frame) - 1;
    out.parent.push(parent);
    out.depth.push(depth);
    out.start_us.push(start);
    out.total_us.push(n.total);
    out.self_us.push(n.self);
    for (const c of [...n.below.values()].sort((a, b) => b.total - a.total)) {
      place(c, at, depth + 1, start);
      start += c.total;
    }
  };
  place(root, -1, 0, 0);
  return out;
}
