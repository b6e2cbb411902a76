import { type KeyMap, useKeys } from '../../parts/index.ts';
import { extend, toggle } from '../../parts/choose.ts';
import { focusList } from './draft-list.tsx';
import { type Pane, PANES } from './letter-view.tsx';
import type { Tools } from './reading-pane.tsx';
import type { Bulk } from './use-bulk.ts';

export type ReviewKeys = {
  /** The letter so many places on. */
  stepFrom: (by: number) => string | undefined;
  current: string | undefined;
  show: (id: string | undefined) => void;
  bulk: Bulk;
  tools: Tools;
  may: { review: boolean; edit: boolean };
  setPane: (pane: Pane) => void;
  undo: () => void;
  isEditing: boolean;
  stopEditing: () => void;
  openAlone: (id: string) => void;
};

/** Everything that Review does, by one key. What is chosen goes before what is read. */
export function useReviewKeys(keys: ReviewKeys): void {
  const { isEditing, stopEditing } = keys;
  useKeys('Review', { ...moving(keys), ...deciding(keys), ...looking(keys) }, { enabled: !isEditing });
  useKeys(
    'Editor',
    { Escape: { label: 'Close the editor, keep what was typed', run: stopEditing } },
    { enabled: isEditing },
  );
}

function moving({ stepFrom, current, show, bulk, openAlone }: ReviewKeys): KeyMap {
  // Who moves through the list is in the list, and hears and sees it.
  const go = (by: number): string | undefined => {
    const next = stepFrom(by);
    focusList();
    if (next !== undefined) show(next);
    return next;
  };
  const reach = (by: number): void => bulk.chooseAll(extend(bulk.chosen, current, go(by)));
  return {
    j: { label: 'Next letter', run: () => go(1), repeats: true },
    k: { label: 'Letter before', run: () => go(-1), repeats: true },
    x: { label: 'Choose', run: () => current !== undefined && bulk.chooseAll(toggle(bulk.chosen, current)) },
    'Shift+j': { label: 'Choose downwards', run: () => reach(1), repeats: true },
    'Shift+k': { label: 'Choose upwards', run: () => reach(-1), repeats: true },
    Enter: { label: 'Open by itself', run: () => current !== undefined && openAlone(current) },
    Escape: { label: 'Let go', run: () => (bulk.chosen.size > 0 ? bulk.clear() : show(undefined)) },
  };
}

function deciding({ bulk, tools, may, current, undo }: ReviewKeys): KeyMap {
  const isMany = bulk.chosen.size > 0;
  const one =
    (run: () => void): (() => void) =>
    () => {
      if (current !== undefined) run();
    };
  return {
    ...(may.review
      ? {
          a: { label: 'Approve', run: isMany ? () => bulk.want({ kind: 'approve' }) : one(tools.approve) },
          h: { label: 'Put off', run: isMany ? () => bulk.ask('postpone') : one(tools.postpone) },
          s: { label: 'Skip', run: isMany ? () => bulk.ask('skip') : one(tools.skip) },
          u: { label: 'Undo', run: undo },
        }
      : {}),
    ...(may.edit ? { e: { label: 'Edit', run: one(tools.edit) } } : {}),
  };
}

function looking({ tools, setPane }: ReviewKeys): KeyMap {
  const panes = PANES.slice(0, 4).map(({ value, label }, at): [string, KeyMap[string]] => [
    String(at + 1),
    { label: `Show: ${label}`, run: () => setPane(value) },
  ]);
  return { w: { label: 'Why', run: tools.why }, ...Object.fromEntries(panes) };
}
