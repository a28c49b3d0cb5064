// Drawing on a canvas in the page's colours.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { RefObject } from "preact";

/** Colours of the page as they are now. */
export interface Colours {
  back: string;
  raised: string;
  line: string;
  text: string;
  dim: string;
  focus: string;
  dark: boolean;
}

export function colours(): Colours {
  const style = getComputedStyle(document.documentElement);
  const of = (name: string) => style.getPropertyValue("--" + name).trim();
  return { back: of("back"), raised: of("raised"), line: of("line"), text: of("text"), dim: of("dim"), focus: of("focus"), dark: style.colorScheme === "dark" };
}

export const font = '12px system-ui, "DejaVu Sans", sans-serif';

/** A canvas that fills its parent, sharp on any screen. draw is called whenever something changed. */
export function useCanvas(draw: (g: CanvasRenderingContext2D, width: number, height: number) => void): RefObject<HTMLCanvasElement | null> {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [, redraw] = useState(0);
  useEffect(() => {
    const again = () => redraw((n) => n + 1);
    const seen = new ResizeObserver(again);
    seen.observe(canvas.current!.parentElement!);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", again);
    addEventListener("colours", again);
    return () => (seen.disconnect(), scheme.removeEventListener("change", again), removeEventListener("colours", again));
  }, []);
  useLayoutEffect(() => {
    const e = canvas.current!;
    const box = e.parentElement!.getBoundingClientRect();
    const scale = devicePixelRatio || 1;
    const width = Math.floor(box.width), height = Math.floor(box.height);
    if (e.width !== width * scale || e.height !== height * scale) {
      e.width = width * scale;
      e.height = height * scale;
    }
    const g = e.getContext("2d")!;
    g.setTransform(scale, 0, 0, scale, 0, 0);
    g.font = font;
    g.textBaseline = "middle";
    draw(g, width, height);
  });
  return canvas;
}

/** Hues that people of any colour vision can tell apart, in two strengths. */
const hues = [205, 41, 164, 327, 202, 26, 54, 262];

/** A colour for a name, the same wherever it stands. */
export function colourOf(name: string, dark: boolean): string {
  let h = 2166136261;
  for (let i = 0; i < name.length; i++) h = Math.imul(h ^ name.charCodeAt(i), 16777619);
  const n = (h >>> 0) % (hues.length * 3);
  const hue = hues[n % hues.length], step = Math.floor(n / hues.length);
  return dark ? `hsl(${hue} 45% ${28 + step * 5}%)` : `hsl(${hue} 68% ${74 + step * 5}%)`;
}

/** Orange for what takes longer than before, blue for what takes less, the stronger the more of the whole it is. */
export function changeColour(now: number, before: number, whole: number, dark: boolean): string {
  const by = (now - before) / whole;
  const strength = Math.min(1, Math.sqrt(Math.abs(by) * 8));
  if (strength < 0.05) return dark ? "hsl(0 0% 26%)" : "hsl(0 0% 90%)";
  return by > 0 ? `hsl(26 ${60 + 30 * strength}% ${dark ? 22 + 18 * strength : 88 - 34 * strength}%)` : `hsl(205 ${50 + 30 * strength}% ${dark ? 22 + 18 * strength : 88 - 34 * strength}%)`;
}

const widths = new Map<string, number>();

/** As much of a text as fits. */
export function fitted(g: CanvasRenderingContext2D, text: string, width: number): string {
  if (width < 12) return "";
  const letter = widths.get("x") ?? g.measureText("x").width;
  widths.set("x", letter);
  const room = Math.floor(width / letter);
  if (text.length <= room * 0.9) return text;
  return room < 3 ? "" : text.slice(0, room - 1) + "…";
}
