import { type KeyMap, useKeys } from '../../parts/index.ts';
import { extend, toggle } from '../../parts/choose.ts';
import { focusList } from './draft-list.tsx';
import { type Pane, PANES } from './email-view.tsx';
import type { Tools } from './reading-pane.tsx';
import type { Bulk } from './use-bulk.ts';

export type ReviewKeys = {
  /** The draft this many places further. */
  stepFrom: (by: number) => string | undefined;
  current: string | undefined;
  show: (id: string | undefined) => void;
  bulk: Bulk;
  tools: Tools;
  may: { review: boolean; edit: boolean };
  setPane: (pane: Pane) => void;
  isEmpty: boolean;
  isEditing: boolean;
  stopEditing: () => void;
  openAlone: (id: string) => void;
};

/** The shortcuts of Review. They apply to the selection, or else to the current draft. */
export function useReviewKeys(keys: ReviewKeys): void {
  const { isEmpty, isEditing, stopEditing } = keys;
  useKeys(
    'Review',
    { ...moving(keys), ...deciding(keys), ...looking(keys) },
    { enabled: !isEditing && !isEmpty },
  );
  useKeys(
    'Editor',
    { Escape: { label: 'Close the editor and keep changes', run: stopEditing } },
    { enabled: isEditing },
  );
}

function moving({ stepFrom, current, show, bulk, openAlone }: ReviewKeys): KeyMap {
  // Moving through the list focuses the list, for screen readers.
  const go = (by: number): string | undefined => {
    const next = stepFrom(by);
    focusList();
    if (next !== undefined) show(next);
    return next;
  };
  const extendSelection = (by: number): void => bulk.chooseAll(extend(bulk.chosen, current, go(by)));
  return {
    j: { label: 'Next draft', run: () => go(1), repeats: true },
    k: { label: 'Previous draft', run: () => go(-1), repeats: true },
    x: { label: 'Select', run: () => current !== undefined && bulk.chooseAll(toggle(bulk.chosen, current)) },
    'Shift+j': { label: 'Extend selection down', run: () => extendSelection(1), repeats: true },
    'Shift+k': { label: 'Extend selection up', run: () => extendSelection(-1), repeats: true },
    Enter: { label: 'Open in full page', run: () => current !== undefined && openAlone(current) },
    Escape: { label: 'Clear selection', run: () => (bulk.chosen.size > 0 ? bulk.clear() : show(undefined)) },
  };
}

function deciding({ bulk, tools, may, current }: ReviewKeys): KeyMap {
  const isMany = bulk.chosen.size > 0;
  const onSingle =
    (run: () => void): (() => void) =>
    () => {
      if (current !== undefined) run();
    };
  return {
    ...(may.review
      ? {
          a: {
            label: 'Approve',
            run: isMany ? () => bulk.want({ kind: 'approve' }) : onSingle(tools.approve),
          },
          h: {
            label: 'Postpone',
            run: isMany ? () => bulk.openDialog('postpone') : onSingle(tools.postpone),
          },
          s: { label: 'Skip', run: isMany ? () => bulk.openDialog('skip') : onSingle(tools.skip) },
        }
      : {}),
    ...(may.edit ? { e: { label: 'Edit', run: onSingle(tools.edit) } } : {}),
  };
}

function looking({ tools, setPane }: ReviewKeys): KeyMap {
  const panes = PANES.slice(0, 4).map(({ value, label }, at): [string, KeyMap[string]] => [
    String(at + 1),
    { label: `Show: ${label}`, run: () => setPane(value) },
  ]);
  return { w: { label: 'Show why', run: tools.why }, ...Object.fromEntries(panes) };
}
