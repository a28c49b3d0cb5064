// Where the parts come from: the server beside this page, or this file itself.

const embedded = new Map<string, Element>();
for (const e of document.querySelectorAll("script[data-part]")) embedded.set(e.getAttribute("data-part")!, e);

/** Whether the page is a file with its data inside. */
export const isFile = embedded.size > 0;

const parts = new Map<string, Promise<unknown>>();

/** The part of that name. It is asked for once. */
export function part<T>(name: string): Promise<T> {
  let p = parts.get(name);
  if (!p) {
    p = isFile ? unpack(name) : ask(name);
    parts.set(name, p);
    p.catch(() => parts.delete(name));
  }
  return p as Promise<T>;
}

/** The part as it is now. */
export function fresh<T>(name: string): Promise<T> {
  parts.delete(name);
  return part<T>(name);
}

/** What was asked for before is of an earlier reading of the session. */
export function forget(): void {
  parts.clear();
}

/** Whether the part can be had: a file holds some of them only. */
export function has(name: string): boolean {
  return !isFile || embedded.has(name);
}

async function ask(name: string): Promise<unknown> {
  let answer: Response;
  try {
    answer = await fetch("data/" + name.split("/").map(encodeURIComponent).join("/"), { cache: "no-store" });
  } catch {
    throw new Error("the server does not answer: `bottleneck view` has ended, or the connection to its machine is gone");
  }
  if (!answer.ok) throw new Error((await answer.text()).trim() || `the server answered ${answer.status}`);
  return answer.json();
}

async function unpack(name: string): Promise<unknown> {
  const e = embedded.get(name);
  if (!e) throw new Error("this file does not hold it");
  const packed = Uint8Array.from(atob(e.textContent!.trim()), (c) => c.charCodeAt(0));
  const text = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(text).json();
}
