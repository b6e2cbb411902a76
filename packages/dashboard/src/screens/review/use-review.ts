import { useEffect, useMemo, useRef, useState } from 'react';
import type { DraftListed, FeedItem } from '@beckon/contract/dashboard';
import { type List, useApiInfinite, useFeed, useRefresh, useSession } from '../../api/index.ts';
import { createSoon } from './soon.ts';
import { useOnLive } from './use-on-live.ts';

export type Review = {
  list: List<DraftListed>;
  /** As they stand on the page: without those that somebody has just decided about. */
  rows: DraftListed[];
  /** Somebody here has decided about them; the server has not been heard yet. */
  leave: (ids: string[]) => void;
  comeBack: (ids: string[]) => void;
  /** The server has it. */
  settle: (ids: string[]) => void;
  /** What others have just done, in words, to be said quietly. */
  note: string | null;
  /** There is more on the server than on the page, and the page is too long to be read anew by itself. */
  isOld: boolean;
  renew: () => void;
};

const PAGE = 200;
/** A longer list is read anew only by who wants it. */
const RENEWED_BELOW = 1_000;
const RENEW_AFTER_MS = 2_000;
const NOTE_MS = 8_000;

/** The list of Review, which others change while somebody reads it. */
export function useReview(filter: string | undefined): Review {
  const query = filter === undefined ? { view: 'review' as const } : { view: 'review' as const, filter };
  const list = useApiInfinite('GET /projects/:project/drafts', { query }, { limit: PAGE, keep: true });
  const left = useLeft();
  const [note, say] = useNote();
  const me = `team:${useSession().data?.data.member?.id ?? ''}`;
  const rows = useMemo(
    () => (left.ids.size === 0 ? list.rows : list.rows.filter(({ id }) => !left.ids.has(id))),
    [list.rows, left.ids],
  );
  const { isOld, renewSoon, renew } = useRenewal(list.rows.length, left);
  useOnLive(renewSoon);
  useFeed(isOfReview, (items) => {
    const others = items.filter(
      ({ draft_id: id, actor }) => id !== undefined && !left.isOurs(id) && actor !== me,
    );
    const gone = others.filter(isDecided).flatMap(({ draft_id: id }) => (id === undefined ? [] : [id]));
    left.add(gone, 'gone');
    const last = others.findLast((item) => item.type === 'move' && item.actor_name !== undefined);
    if (last) say(wordsOf(last));
    renewSoon();
  });
  return {
    list,
    rows,
    note,
    isOld,
    renew,
    leave: (ids) => left.add(ids, 'asked'),
    comeBack(ids) {
      left.drop(ids);
      renewSoon();
    },
    settle(ids) {
      left.settle(ids);
      renewSoon();
    },
  };
}

/**
 * How they left: `asked` for by somebody here, and the server has not answered; `ours`, which it has done; `gone`, by others. What
 * is only asked for is still in every list that the server gives.
 */
type How = 'asked' | 'ours' | 'gone';
type Left = {
  ids: ReadonlyMap<string, How>;
  add: (ids: string[], how: How) => void;
  settle: (ids: string[]) => void;
  drop: (ids: Iterable<string>) => void;
  isOurs: (id: string) => boolean;
  /** Those that a list which is asked for now will know of. */
  settled: () => string[];
};

function useLeft(): Left {
  const [ids, setIds] = useState<ReadonlyMap<string, How>>(new Map());
  // What the feed says may come before the page is drawn anew.
  const latest = useRef(ids);
  const set = (next: ReadonlyMap<string, How>): void => {
    latest.current = next;
    setIds(next);
  };
  const add = (more: string[], how: How): void => {
    if (more.length > 0) set(new Map([...latest.current, ...more.map((id): [string, How] => [id, how])]));
  };
  return {
    ids,
    add,
    settle: (some) => add(some, 'ours'),
    drop(some) {
      const dropped = new Set(some);
      set(new Map([...latest.current].filter(([id]) => !dropped.has(id))));
    },
    isOurs: (id) => ['asked', 'ours'].includes(latest.current.get(id) ?? ''),
    settled: () => [...latest.current].filter(([, how]) => how !== 'asked').map(([id]) => id),
  };
}

/** Reads the list anew a little later, once for all that happened until then. */
function useRenewal(
  rows: number,
  left: Pick<Left, 'settled' | 'drop'>,
): { isOld: boolean; renewSoon: () => void; renew: () => void } {
  const refresh = useRefresh();
  const [isOld, setOld] = useState(false);
  const renew = async (): Promise<void> => {
    setOld(false);
    const known = left.settled();
    await refresh('GET /projects/:project/drafts');
    left.drop(known);
  };
  const tick = async (): Promise<void> => {
    void refresh('GET /projects/:project/drafts/counts', 'GET /projects/:project/counts');
    if (rows < RENEWED_BELOW) await renew();
    else setOld(true);
  };
  const latest = useRef(tick);
  useEffect(() => {
    latest.current = tick;
  });
  const [soon] = useState(() => createSoon(() => latest.current(), RENEW_AFTER_MS));
  useEffect(() => soon.stop, [soon]);
  return { isOld, renew: () => void renew(), renewSoon: soon.ask };
}

function useNote(): [string | null, (text: string) => void] {
  const [note, setNote] = useState<string | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  return [
    note,
    (text) => {
      clearTimeout(timer.current);
      setNote(text);
      timer.current = setTimeout(() => setNote(null), NOTE_MS);
    },
  ];
}

function isOfReview({ type }: FeedItem): boolean {
  return type === 'move' || type === 'draft';
}

const OPEN = new Set(['composing', 'scheduled', 'held']);

/** Nobody has to decide about it any more. */
function isDecided({ type, to }: FeedItem): boolean {
  return type === 'move' && !OPEN.has(String(to));
}

const WORDS: Record<string, string> = {
  approve: 'approved',
  skip: 'skipped',
  postpone: 'put off',
  edit: 'edited',
  undo: 'took back what was done to',
  open_editor: 'is editing',
  close_editor: 'stopped editing',
};

function wordsOf({ actor_name: name, action, external_user_id: user }: FeedItem): string {
  return `${name ?? 'Somebody'} ${WORDS[String(action)] ?? 'moved'} the letter to ${user ?? 'somebody'}`;
}
