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
  /** Off if another table of this page uses the keyboard. */
  noKeys?: boolean;
  reveal: (index: number) => void;
};

/** The shortcuts of every list: j and k move, x selects, Shift extends, Enter opens, Esc clears. */
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
  const extendSelection = (by: number): void => {
    const next = go(by);
    if (chosen) onChosen?.(extend(chosen, current, next));
  };
  const letGo = (): void => {
    if (chosen && chosen.size > 0) onChosen?.(new Set());
    else onCurrent(undefined);
  };
  const map: KeyMap = {
    j: { label: 'Next row', run: () => go(1), repeats: true },
    k: { label: 'Previous row', run: () => go(-1), repeats: true },
    ...(table.link || table.onOpen ? { Enter: { label: 'Open', run: open } } : {}),
    ...(chosen && onChosen
      ? {
          x: { label: 'Select', run: () => current !== undefined && onChosen(toggle(chosen, current)) },
          'Shift+j': { label: 'Extend selection down', run: () => extendSelection(1), repeats: true },
          'Shift+k': { label: 'Extend selection up', run: () => extendSelection(-1), repeats: true },
        }
      : {}),
    ...(current !== undefined || (chosen && chosen.size > 0)
      ? { Escape: { label: 'Clear selection', run: letGo } }
      : {}),
  };
  useKeys(label, map, { enabled: !noKeys });
}
