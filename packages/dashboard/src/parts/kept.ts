import { useCallback, useEffect, useRef, useState } from 'react';

/**
 * State that survives a reload of the tab, for unsaved text. `key` names its subject:
 * `draft:42:7`. It is deleted explicitly, or with the tab.
 */
export function useKept<T>(key: string, start: T): [T, (next: T) => void, () => void] {
  const name = `beckon-kept:${key}`;
  const [held, setHeld] = useState(() => ({ name, value: read(name, start) }));
  const latest = useRef(start);
  useEffect(() => {
    latest.current = start;
  });
  const value = held.name === name ? held.value : read(name, start);
  const keep = useCallback(
    (next: T) => {
      write(name, JSON.stringify(next));
      setHeld({ name, value: next });
    },
    [name],
  );
  const letGo = useCallback(() => {
    sessionStorage.removeItem(name);
    setHeld({ name, value: latest.current });
  }, [name]);
  return [value, keep, letGo];
}

/** Deletes all kept state whose key starts with this prefix. */
export function forgetKept(prefix: string): void {
  for (const name of Object.keys(sessionStorage))
    if (name.startsWith(`beckon-kept:${prefix}`)) sessionStorage.removeItem(name);
}

function read<T>(name: string, start: T): T {
  try {
    const text = sessionStorage.getItem(name);
    return text === null ? start : (JSON.parse(text) as T);
  } catch {
    return start;
  }
}

/** Full storage must not lose the text on the screen. */
function write(name: string, text: string): void {
  try {
    sessionStorage.setItem(name, text);
  } catch {
    sessionStorage.removeItem(name);
  }
}
