import { useKept } from './kept.ts';

export type Edited<T> = {
  value: T;
  change: (next: T) => void;
  /** It is saved, or thrown away: what is saved stands there again. */
  forget: () => void;
  /** Of which version of what is saved the change began: whoever saved meanwhile is told apart by it. */
  base: string;
};

/**
 * What somebody typed over what is saved. As long as nobody types it is what is saved, however that changes; from the first
 * change on it is theirs, and survives a reload and whatever others save meanwhile. `stamp` names the version that is saved.
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
