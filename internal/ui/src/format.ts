// Units, written as the terminal writes them (internal/view/units.go); a test holds both together.

/** Decimals as Go rounds them: what lies exactly between two goes to the even one, where toFixed goes away from 0. */
function fixed(v: number, decimals: number): string {
  const exact = Math.abs(v).toFixed(decimals + 30);
  if (!exact.endsWith("5" + "0".repeat(29))) return v.toFixed(decimals);
  const down = exact.slice(0, -30).replace(/\.$/, "");
  return Number(down.at(-1)) % 2 === 0 ? (v < 0 ? "-" : "") + down : v.toFixed(decimals);
}

function digits(v: number): string {
  const a = Math.abs(v);
  return fixed(v, a >= 99.95 ? 0 : a >= 9.995 ? 1 : 2);
}

export function milliseconds(ms: number): string {
  const a = Math.abs(ms);
  if (a === 0) return "0";
  if (a < 1) return digits(ms * 1000) + " µs";
  if (a < 1000) return digits(ms) + " ms";
  if (a < 120e3) return digits(ms / 1000) + " s";
  if (a < 7200e3) return digits(ms / 60e3) + " min";
  return digits(ms / 3600e3) + " h";
}

export function percent(share: number): string {
  const p = share * 100;
  if (p !== 0 && Math.abs(p) < 0.1) return "<0.1 %";
  return fixed(p, Math.abs(p) < 10 ? 1 : 0) + " %";
}

export function bytes(n: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let i = 0;
  for (; Math.abs(n) >= 1024 && i < units.length - 1; i++) n /= 1024;
  return i === 0 ? fixed(n, 0) + " B" : digits(n) + " " + units[i];
}

export function count(n: number): string {
  return fixed(n, 0).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/** A value of a table's column in its unit; "-" where it is not known. */
export function cell(v: number | null, unit: string): string {
  if (v === null) return "-";
  switch (unit) {
    case "us":
      return milliseconds(v / 1e3);
    case "bytes":
      return bytes(v);
    case "share":
      return percent(v);
    case "count":
      return count(v);
  }
  return Number.isInteger(v) ? String(v) : digits(v);
}

/** The last part of a path, for where space is short; the whole stands in the title. */
export function base(file: string): string {
  return file.slice(Math.max(file.lastIndexOf("/"), file.lastIndexOf("\\")) + 1);
}
