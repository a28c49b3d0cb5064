// Charts taken along: as SVG or PNG, with the colours that they have now, and as numbers.

import { save } from "./clipboard";
import { Chart } from "./payload";

/** The drawing by itself: the page's colours are written out, since they are not there elsewhere. */
function alone(svg: SVGSVGElement): string {
  const style = getComputedStyle(document.documentElement);
  const copy = svg.cloneNode(true) as SVGSVGElement;
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("font-family", "system-ui, sans-serif");
  const back = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  back.setAttribute("width", "100%");
  back.setAttribute("height", "100%");
  back.setAttribute("fill", "var(--back)");
  copy.prepend(back);
  for (const name of ["tabindex", "role", "class"]) copy.removeAttribute(name);
  return new XMLSerializer().serializeToString(copy).replace(/var\((--[\w-]+)\)/g, (_, name) => style.getPropertyValue(name).trim());
}

export function saveSvg(svg: SVGSVGElement, name: string): void {
  save(name + ".svg", "image/svg+xml", alone(svg));
}

export function savePng(svg: SVGSVGElement, name: string): void {
  const image = new Image();
  const scale = 2;
  image.onload = () => {
    const canvas = document.createElement("canvas");
    canvas.width = svg.clientWidth * scale;
    canvas.height = svg.clientHeight * scale;
    canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((png) => png && save(name + ".png", "image/png", png));
  };
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(alone(svg));
}

/** The values of a chart, a line each. */
export function chartCsv(c: Chart): string {
  const quote = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const unit = (u: string) => (u === "us" ? " (µs)" : u === "bytes" ? " (bytes)" : "");
  const bars = c.kind === "bars";
  const heads = ["series", ...(c.rows.length ? ["row"] : []), ...(bars ? [c.x.head + unit(c.x.unit)] : [c.x.head + unit(c.x.unit), c.y.head + unit(c.y.unit)]), "text"];
  const lines = [heads.map(quote).join(",")];
  for (const s of c.series) {
    s.x.forEach((x, i) => {
      const values = bars ? [String(s.y[i] ?? "")] : [String(x), String(s.y[i] ?? "")];
      lines.push([s.name, ...(c.rows.length ? [c.rows[s.row![i]]] : []), ...values, s.texts?.[i] ?? ""].map(quote).join(","));
    });
  }
  return lines.join("\r\n") + "\r\n";
}
