// The field that filters or searches a view. What is typed stands in the address.

import { useLayoutEffect, useRef } from "preact/hooks";
import { refine } from "./address";

export function Filter({ find, label }: { find: string; label: string }) {
  // The field keeps its own text: drawn from the address it would lose what is typed while a long table is filtered.
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    if (field.current !== document.activeElement) field.current!.value = find;
  }, [find]);
  return <input type="search" data-filter ref={field} placeholder={`${label}  /`} aria-label={label} onInput={(e) => refine({ find: e.currentTarget.value })} />;
}
