import { type LinkProps, useNavigate } from '@tanstack/react-router';
import { extend, step, toggle } from './choose.ts';
import { type KeyMap, useKeys } from './use-keys.tsx';

export type RowKeys<Row> = {
  label: string;
  list: { rows: Row[] };
  keys: string[];
  link?: (row: Row) => LinkProps;
  onOpen?: (key: string) => void;
  current: string | undefined;
  onCurrent: (key: string | undefined) => void;
  chosen?: ReadonlySet<string>;
  onChosen?: (chosen: Set<string>) => void;
  /** Another table of this page has the keys. */
  noKeys?: boolean;
  reveal: (index: number) => void;
};

/** The keys of every list: j and k move, x chooses, Shift extends, Enter opens, Esc lets go. */
export function useRowKeys<Row>(table: RowKeys<Row>): void {
  const { label, keys, current, onCurrent, chosen, onChosen, noKeys = false } = table;
  const navigate = useNavigate();
  const go = (by: number): string | undefined => {
    const next = step(keys, current, by);
    onCurrent(next);
    if (next !== undefined) table.reveal(keys.indexOf(next));
    return next;
  };
  const open = (): void => {
    const row = table.list.rows[keys.indexOf(current ?? '')];
    if (current === undefined || row === undefined) return;
    if (table.link) void navigate(table.link(row) as Parameters<typeof navigate>[0]);
    else table.onOpen?.(current);
  };
  const reach = (by: number): void => {
    const next = go(by);
    if (chosen) onChosen?.(extend(chosen, current, next));
  };
  const letGo = (): void => {
    if (chosen && chosen.size > 0) onChosen?.(new Set());
    else onCurrent(undefined);
  };
  const map: KeyMap = {
    j: { label: 'Next row', run: () => go(1), repeats: true },
    k: { label: 'Row before', run: () => go(-1), repeats: true },
    ...(table.link || table.onOpen ? { Enter: { label: 'Open', run: open } } : {}),
    ...(chosen && onChosen
      ? {
          x: { label: 'Choose', run: () => current !== undefined && onChosen(toggle(chosen, current)) },
          'Shift+j': { label: 'Choose downwards', run: () => reach(1), repeats: true },
          'Shift+k': { label: 'Choose upwards', run: () => reach(-1), repeats: true },
        }
      : {}),
    ...(current !== undefined || (chosen && chosen.size > 0)
      ? { Escape: { label: 'Let go', run: letGo } }
      : {}),
  };
  useKeys(label, map, { enabled: !noKeys });
}
