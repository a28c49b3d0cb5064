// Every view has an address: #/view?key=value. It can be shared, and Back leads to where one was.

import { useEffect, useMemo, useState } from "preact/hooks";

export interface Address {
  view: string;
  args: Record<string, string>;
}

export const verdict = "verdict";

export function read(hash: string): Address {
  const [path, query] = hash.replace(/^#\/?/, "").split("?", 2);
  const args: Record<string, string> = Object.create(null);
  for (const [k, v] of new URLSearchParams(query ?? "")) args[k] = v;
  let view = verdict;
  try {
    view = decodeURIComponent(path) || verdict;
  } catch {
    // An address that was cut in a mail: the page opens at its beginning.
  }
  return { view, args };
}

export function write(a: Address): string {
  const query = new URLSearchParams(Object.entries(a.args).filter(([, v]) => v !== "")).toString();
  return "#/" + encodeURIComponent(a.view) + (query ? "?" + query : "");
}

/** Goes to an address; what only refines the view that is shown makes no entry in the history. */
export function go(a: Address, refine = false): void {
  const hash = write(a);
  if (hash === location.hash) return;
  if (refine) history.replaceState(null, "", hash);
  else history.pushState(null, "", hash);
  dispatchEvent(new Event("hashchange"));
}

/** Changes some arguments of the address that is shown. */
export function refine(args: Record<string, string>): void {
  const now = read(location.hash);
  go({ view: now.view, args: { ...now.args, ...args } }, true);
}

export function useAddress(): Address {
  const [hash, set] = useState(location.hash);
  useEffect(() => {
    const update = () => set(location.hash);
    addEventListener("hashchange", update);
    addEventListener("popstate", update);
    update(); // effects run after the first painting; a click or a key may have come before
    return () => {
      removeEventListener("hashchange", update);
      removeEventListener("popstate", update);
    };
  }, []);
  return useMemo(() => read(hash), [hash]);
}
