// Waiting for a part, and what stands in its place when it cannot be had.

import { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { part } from "./data";

type State<T> = { name: string; value?: T; error?: string };

export function usePart<T>(name: string): State<T> {
  const [state, set] = useState<State<T>>({ name });
  useEffect(() => {
    let wanted = true;
    part<T>(name).then(
      (value) => wanted && set({ name, value }),
      (error) => wanted && set({ name, error: String(error.message ?? error) }),
    );
    return () => {
      wanted = false;
    };
  }, [name]);
  return state.name === name ? state : { name };
}

export function Part<T>(props: { name: string; children: (value: T) => ComponentChildren }) {
  const state = usePart<T>(props.name);
  if (state.error) return <p class="message" role="alert">This cannot be shown: {state.error}.</p>;
  if (!state.value) return <p class="message" role="status">Reading …</p>;
  return <>{props.children(state.value)}</>;
}
