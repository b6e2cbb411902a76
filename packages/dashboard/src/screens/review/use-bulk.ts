import { useState } from 'react';
import type { BulkAct, DraftListed } from '@beckon/contract/dashboard';
import type { List } from '../../api/index.ts';
import { notify } from '../../parts/index.ts';
import type { BulkBarProps, BulkRequest } from './bulk.tsx';
import type { Run } from './bulk-run.ts';

export type Bulk = {
  chosen: ReadonlySet<string>;
  choose: (id: string, isChosen: boolean) => void;
  chooseAll: (ids: ReadonlySet<string>) => void;
  clear: () => void;
  /** Removes drafts that were decided individually. */
  drop: (ids: string[]) => void;
  /** Requests the preview of an action on all selected drafts. */
  want: (act: BulkAct) => void;
  /** Requests the preview of an action on all drafts that match a filter. */
  wantAll: (act: BulkAct, filter: string) => void;
  request: BulkRequest | null;
  /** The open dialog: the time or the reason. */
  dialog: 'postpone' | 'skip' | null;
  openDialog: (what: 'postpone' | 'skip' | null) => void;
  close: () => void;
  acted: (result: Acted) => void;
  bar: (list: List<DraftListed>) => BulkBarProps;
};

export type Acted = Pick<Run, 'processedIds' | 'ids' | 'unchanged'> & { act: BulkAct };

type BulkOptions = {
  leave: (ids: string[]) => void;
  settle: (ids: string[]) => void;
  remember: (ids: string[], message: string) => void;
};

/** The state of bulk actions: the selected drafts and the action. */
export function useBulk({ leave, settle, remember }: BulkOptions): Bulk {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [takesAll, setTakesAll] = useState(false);
  const [request, setRequest] = useState<BulkRequest | null>(null);
  const [dialog, openDialog] = useState<'postpone' | 'skip' | null>(null);
  const clear = (): void => {
    setChosen(new Set());
    setTakesAll(false);
  };
  const drop = (ids: string[]): void => {
    const dropped = new Set(ids);
    setChosen((was) => new Set([...was].filter((id) => !dropped.has(id))));
  };
  const want = (act: BulkAct): void => setRequest({ act, ids: takesAll ? null : [...chosen] });
  return {
    chosen,
    clear,
    request,
    dialog,
    openDialog,
    want,
    wantAll: (act, filter) => setRequest({ act, ids: null, filter }),
    choose(id, isChosen) {
      setTakesAll(false);
      setChosen((was) => new Set(isChosen ? [...was, id] : [...was].filter((other) => other !== id)));
    },
    chooseAll(ids) {
      setTakesAll(false);
      setChosen(ids);
    },
    drop,
    close: () => setRequest(null),
    acted({ processedIds, ids, act, unchanged }) {
      // Drafts that were not processed stay selected.
      if (processedIds === null) clear();
      else drop(processedIds);
      leave(ids);
      settle(ids);
      const words = wordsOf(act, ids.length, unchanged);
      if (ids.length > 0) remember(ids, words);
      else notify(words);
    },
    bar: (list) => ({
      chosen: chosen.size,
      all: list.total,
      isAtLeast: list.isAtLeast,
      takesAll,
      onTakeAll: () => setTakesAll(true),
      onClear: clear,
      approve: () => want({ kind: 'approve' }),
      postpone: () => openDialog('postpone'),
      skip: () => openDialog('skip'),
    }),
  };
}

const DONE: Record<BulkAct['kind'], string> = { approve: 'approved', skip: 'skipped', postpone: 'postponed' };

function wordsOf({ kind }: BulkAct, acted: number, unchanged: number): string {
  const rest = unchanged === 0 ? '' : `, ${unchanged} unchanged`;
  return `${acted} ${acted === 1 ? 'draft' : 'drafts'} ${DONE[kind]}${rest}`;
}
