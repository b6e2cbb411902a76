import { useKept } from './kept.ts';

export type Edited<T> = {
  value: T;
  change: (next: T) => void;
  /** Ends the edit after saving or discarding: shows the saved value again. */
  forget: () => void;
  /** The saved version that the edit began with. It shows whether another member saved since then. */
  base: string;
};

/**
 * An edit of a saved value. Before the first change it follows the saved value. From the first
 * change on it is kept, also over a reload and changes by other members. `stamp` names the saved version.
 */
export function useEdited<T>(key: string, saved: T, stamp: string): Edited<T> {
  const [typed, keep, letGo] = useKept<{ value: T; base: string } | null>(key, null);
  const base = typed?.base ?? stamp;
  return {
    value: typed === null ? saved : typed.value,
    change: (value) => keep({ value, base }),
    forget: letGo,
    base,
  };
}
