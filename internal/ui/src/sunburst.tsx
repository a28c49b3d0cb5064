// The same tree in rings: the whole in the middle, what it calls around it.

import { useEffect, useMemo, useState } from "preact/hooks";
import { colourOf, colours, fitted, useCanvas } from "./canvas";
import { byDepth, firstAt } from "./flame";
import { Boxes } from "./flametree";
import { cell, percent } from "./format";
import { onKeys } from "./keys";

/** Rings that are shown of a deep tree; a click on a box goes deeper. */
const most = 12;

interface SunburstProps {
  boxes: Boxes;
  found: boolean[];
  whole: number;
  chosen: number;
  choose: (n: number) => void;
  label: string;
}

export function Sunburst({ boxes, found, whole, chosen, choose, label }: SunburstProps) {
  const [zoom, setZoom] = useState(0);
  const [over, setOver] = useState<{ n: number; x: number; y: number } | null>(null);
  const rows = useMemo(() => byDepth(boxes), [boxes]);
  const searching = found.some(Boolean);
  useEffect(() => setZoom(0), [boxes]);
  const view = zoom < boxes.frame.length ? zoom : 0;
  const span = Math.max(boxes.total_us[view], 1e-9), left = boxes.start_us[view], first = boxes.depth[view];
  const rings = Math.max(2, Math.min(most, rows.length - first));
  const ringOf = (width: number, height: number) => Math.min(width, height) / 2 / (rings + 0.2);
  const angle = (us: number) => ((us - left) / span) * 2 * Math.PI - Math.PI / 2;
  const canvas = useCanvas((g, width, height) => {
    const c = colours(), ring = ringOf(width, height);
    g.fillStyle = c.back;
    g.fillRect(0, 0, width, height);
    const x = width / 2, y = height / 2;
    for (let d = 0; d < rings; d++) {
      const list = rows[first + d] ?? [];
      for (let k = firstAt(boxes, list, left); k < list.length; k++) {
        const n = list[k];
        if (boxes.start_us[n] >= left + span) break;
        const from = angle(Math.max(boxes.start_us[n], left)), to = angle(Math.min(boxes.start_us[n] + boxes.total_us[n], left + span));
        if ((to - from) * ring * (d + 1) < 0.5) continue;
        const name = boxes.names[boxes.frame[n]], dim = searching && !found[boxes.frame[n]];
        g.beginPath();
        g.arc(x, y, ring * (d + 1), from, to);
        if (to - from > 6.28) g.moveTo(x + Math.max(ring * d, 0.01) * Math.cos(to), y + Math.max(ring * d, 0.01) * Math.sin(to)); // a whole ring has no edge
        g.arc(x, y, Math.max(ring * d, 0.01), to, from, true);
        if (to - from <= 6.28) g.closePath();
        g.fillStyle = dim ? c.raised : colourOf(name, c.dark);
        g.fill();
        g.strokeStyle = n === chosen ? c.focus : c.back;
        g.lineWidth = n === chosen ? 3 : 0.8;
        g.stroke();
        const middle = (from + to) / 2, r = ring * (d + 0.5);
        if ((to - from) * r > 14 && d > 0) writeAlong(g, fitted(g, name, ring - 6), x, y, middle, ring * d + 4, dim ? c.dim : c.text);
        else if (d === 0) {
          g.fillStyle = c.text;
          g.textAlign = "center";
          g.fillText(fitted(g, name, ring * 1.8), x, y);
          g.textAlign = "left";
        }
      }
    }
  });
  const hit = (e: MouseEvent) => {
    const box = canvas.current!.getBoundingClientRect();
    const x = e.clientX - box.left - box.width / 2, y = e.clientY - box.top - box.height / 2;
    const d = Math.floor(Math.hypot(x, y) / ringOf(box.width, box.height));
    if (d >= rings) return -1;
    let turn = (Math.atan2(y, x) + Math.PI / 2) / (2 * Math.PI);
    if (turn < 0) turn += 1;
    const list = rows[first + d] ?? [], us = left + turn * span, k = firstAt(boxes, list, us);
    return k < list.length && boxes.start_us[list[k]] <= us ? list[k] : -1;
  };
  const children = (n: number) => (rows[boxes.depth[n] + 1] ?? []).filter((c) => boxes.parent[c] === n);
  const beside = (by: number) => {
    const list = boxes.parent[chosen] < 0 ? [chosen] : children(boxes.parent[chosen]);
    choose(list[Math.max(0, Math.min(list.length - 1, list.indexOf(chosen) + by))]);
  };
  const keys = onKeys({
    ArrowDown: () => choose(children(chosen)[0] ?? chosen), ArrowUp: () => boxes.parent[chosen] >= 0 && choose(boxes.parent[chosen]),
    ArrowLeft: () => beside(-1), ArrowRight: () => beside(1), Enter: () => setZoom(chosen), Escape: () => setZoom(boxes.parent[view] >= 0 ? boxes.parent[view] : 0),
  });
  return (
    <div class="drawing">
      <canvas ref={canvas} tabIndex={0} role="application" aria-label={`${label}, sunburst: arrow keys choose a box, Enter makes it the middle, Escape goes outwards`} onKeyDown={keys}
        onMouseMove={(e) => setOver({ n: hit(e), x: e.offsetX, y: e.offsetY })} onMouseLeave={() => setOver(null)} data-boxes={boxes.frame.length} data-rings={rings}
        onClick={(e) => { const n = hit(e); if (n >= 0) (choose(n), setZoom(n === view && boxes.parent[n] >= 0 ? boxes.parent[n] : n)); }} />
      {over && over.n >= 0 && (
        <div class="tip" style={{ left: `${Math.min(over.x + 14, canvas.current!.clientWidth - 330)}px`, top: `${over.y + 16}px` }}>
          <bdi>{boxes.names[boxes.frame[over.n]]}</bdi>
          <div class="aside">{boxes.places[boxes.frame[over.n]]}</div>
          total {cell(boxes.total_us[over.n], boxes.unit)}, {percent(boxes.total_us[over.n] / whole)}
        </div>
      )}
    </div>
  );
}

/** Text from the middle outwards, never upside down. */
function writeAlong(g: CanvasRenderingContext2D, text: string, x: number, y: number, angle: number, from: number, colour: string) {
  if (!text) return;
  g.save();
  g.translate(x, y);
  const turned = Math.cos(angle) < 0;
  g.rotate(turned ? angle + Math.PI : angle);
  g.fillStyle = colour;
  g.textAlign = turned ? "right" : "left";
  g.fillText(text, turned ? -from : from, 0);
  g.restore();
}
