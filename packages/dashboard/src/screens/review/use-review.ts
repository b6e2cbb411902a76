import { useEffect, useMemo, useRef, useState } from 'react';
import type { DraftListed, FeedItem } from '@beckon/contract/dashboard';
import { type List, useApiInfinite, useFeed, useRefresh, useSession } from '../../api/index.ts';
import { createSoon } from './soon.ts';
import { useOnLive } from './use-on-live.ts';

export type Review = {
  list: List<DraftListed>;
  /** The drafts on the page: without those that were just decided. */
  rows: DraftListed[];
  /** The member decided; the response is pending. */
  leave: (ids: string[]) => void;
  comeBack: (ids: string[]) => void;
  /** The server confirmed it. */
  settle: (ids: string[]) => void;
  /** Recent actions of other members, in words. */
  note: string | null;
  /** The server has new drafts, and the list is too long to reload automatically. */
  isOld: boolean;
  renew: () => void;
};

const PAGE = 200;
/** A longer list is reloaded only on request. */
const RENEWED_BELOW = 1_000;
const RENEW_AFTER_MS = 2_000;
const NOTE_MS = 8_000;

/** The list of Review. Other members and rules change it at any time. */
export function useReview(filter: string | undefined): Review {
  const query = filter === undefined ? { view: 'review' as const } : { view: 'review' as const, filter };
  const list = useApiInfinite('GET /projects/:project/drafts', { query }, { limit: PAGE, keep: true });
  const departures = useDepartures();
  const [note, say] = useNote();
  const me = `team:${useSession().data?.data.member?.id ?? ''}`;
  const rows = useMemo(
    () => (departures.ids.size === 0 ? list.rows : list.rows.filter(({ id }) => !departures.ids.has(id))),
    [list.rows, departures.ids],
  );
  const { isOld, renewSoon, renew } = useRenewal(list.rows.length, departures);
  useOnLive(renewSoon);
  useFeed(isOfReview, (items) => {
    const others = items.filter(
      ({ draft_id: id, actor }) => id !== undefined && !departures.isOurs(id) && actor !== me,
    );
    const gone = others.filter(isDecided).flatMap(({ draft_id: id }) => (id === undefined ? [] : [id]));
    departures.add(gone, 'gone');
    const last = others.findLast((item) => item.type === 'draft_changed' && item.actor_name !== undefined);
    if (last) say(wordsOf(last));
    renewSoon();
  });
  return {
    list,
    rows,
    note,
    isOld,
    renew,
    leave: (ids) => departures.add(ids, 'pending'),
    comeBack(ids) {
      departures.drop(ids);
      renewSoon();
    },
    settle(ids) {
      departures.settle(ids);
      renewSoon();
    },
  };
}

/**
 * Why drafts left the list: `pending`: decided here, response pending; `ours`: decided here and confirmed; `gone`: by others. A
 * pending draft is still in every list from the server.
 */
type DepartureKind = 'pending' | 'ours' | 'gone';
type Departures = {
  ids: ReadonlyMap<string, DepartureKind>;
  add: (ids: string[], kind: DepartureKind) => void;
  settle: (ids: string[]) => void;
  drop: (ids: Iterable<string>) => void;
  isOurs: (id: string) => boolean;
  /** The drafts that a list requested now already reflects. */
  settled: () => string[];
};

function useDepartures(): Departures {
  const [ids, setIds] = useState<ReadonlyMap<string, DepartureKind>>(new Map());
  // A feed item may arrive before the page renders again.
  const latest = useRef(ids);
  const set = (next: ReadonlyMap<string, DepartureKind>): void => {
    latest.current = next;
    setIds(next);
  };
  const add = (more: string[], kind: DepartureKind): void => {
    if (more.length > 0)
      set(new Map([...latest.current, ...more.map((id): [string, DepartureKind] => [id, kind])]));
  };
  return {
    ids,
    add,
    settle: (draftIds) => add(draftIds, 'ours'),
    drop(draftIds) {
      const dropped = new Set(draftIds);
      set(new Map([...latest.current].filter(([id]) => !dropped.has(id))));
    },
    isOurs: (id) => ['pending', 'ours'].includes(latest.current.get(id) ?? ''),
    settled: () => [...latest.current].filter(([, kind]) => kind !== 'pending').map(([id]) => id),
  };
}

/** Reloads the list after a short delay, once for all changes until then. */
function useRenewal(
  rows: number,
  departures: Pick<Departures, 'settled' | 'drop'>,
): { isOld: boolean; renewSoon: () => void; renew: () => void } {
  const refresh = useRefresh();
  const [isOld, setOld] = useState(false);
  const renew = async (): Promise<void> => {
    setOld(false);
    const settledIds = departures.settled();
    await refresh('GET /projects/:project/drafts');
    departures.drop(settledIds);
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
  return { isOld, renew: () => void renew(), renewSoon: soon.request };
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
  return type === 'draft_changed' || type === 'draft';
}

const OPEN = new Set(['scheduled', 'held']);

/** The draft needs no decision any more. */
function isDecided({ type, to }: FeedItem): boolean {
  return type === 'draft_changed' && !OPEN.has(String(to));
}

const WORDS: Record<string, string> = {
  approve: 'approved',
  skip: 'skipped',
  postpone: 'postponed',
  edit: 'edited',
  undo: 'undid the last action on',
  open_editor: 'is editing',
  close_editor: 'stopped editing',
};

function wordsOf({ actor_name: name, action, external_user_id: user }: FeedItem): string {
  return `${name ?? 'Another member'} ${WORDS[String(action)] ?? 'changed'} the draft for ${user ?? 'a user'}`;
}
