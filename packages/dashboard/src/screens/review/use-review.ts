import { useEffect, useMemo, useRef, useState } from 'react';
import type { DraftListed, FeedItem } from '@beckon/contract/dashboard';
import { type List, useApiInfinite, useFeed, useRefresh, useSession } from '../../api/index.ts';
import { type KnownDraft, type KnownDrafts, withKnown } from './known-drafts.ts';
import { createSoon } from './soon.ts';
import { LISTS } from './use-acts.ts';
import { useOnLive } from './use-on-live.ts';

export type Review = {
  list: List<DraftListed>;
  /** The drafts on the page: the list, with everything that the page learned since. */
  rows: DraftListed[];
  /** True if the server has no draft to show. */
  isEmpty: boolean;
  /** The member decided; the response is pending. */
  leave: (ids: string[]) => void;
  /** The decision failed. */
  comeBack: (ids: string[]) => void;
  /** The server returned these rows: after an edit, or after an undo. They are shown without waiting for the next list. */
  put: (rows: DraftListed[]) => void;
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
/** The list is reloaded at the first change, as the count in the sidebar is, and then at most once in this time. */
const RENEW_EVERY_MS = 2_000;
const NOTE_MS = 8_000;

/** The list of Review. Other members and rules change it at any time. */
export function useReview(filter: string | undefined): Review {
  const query = filter === undefined ? { view: 'review' as const } : { view: 'review' as const, filter };
  const list = useApiInfinite('GET /projects/:project/drafts', { query }, { limit: PAGE, keep: true });
  const known = useKnown();
  const [note, say] = useNote();
  const me = `team:${useSession().data?.data.member?.id ?? ''}`;
  const rows = useMemo(() => withKnown(list.rows, known.drafts), [list.rows, known.drafts]);
  const { isOld, renewSoon, renew } = useRenewal(list.rows.length, known);
  useOnLive(renewSoon);
  useFeed(isOfReview, (items) => {
    const others = items.filter(
      ({ draft_id: id, actor }) => id !== undefined && !known.isOurs(id) && actor !== me,
    );
    const gone = others.filter(isDecided).flatMap(({ draft_id: id }) => (id === undefined ? [] : [id]));
    known.add(each(gone, 'gone'));
    const last = others.findLast((item) => item.type === 'draft_changed' && item.actor_name !== undefined);
    if (last) say(wordsOf(last));
    renewSoon();
  });
  return {
    list,
    rows,
    isEmpty: !list.isPending && !list.error && rows.length === 0,
    note,
    isOld,
    renew,
    leave: (ids) => known.add(each(ids, 'pending')),
    comeBack(ids) {
      known.drop(ids);
      renewSoon();
    },
    put(changed) {
      known.add(changed.map((row) => [row.id, { kind: 'here', row }]));
      renewSoon();
    },
    settle(ids) {
      known.add(each(ids, 'ours'));
      renewSoon();
    },
  };
}

type Known = {
  drafts: KnownDrafts;
  add: (entries: [string, KnownDraft][]) => void;
  drop: (ids: Iterable<string>) => void;
  /** Forgets these entries, which a later list already shows. Newer entries stay. */
  forget: (settled: KnownDrafts) => void;
  isOurs: (id: string) => boolean;
  /** The entries that a list requested now already shows. */
  settled: () => KnownDrafts;
};

function useKnown(): Known {
  const [drafts, setDrafts] = useState<KnownDrafts>(new Map());
  // A feed item may arrive before the page renders again.
  const latest = useRef(drafts);
  const set = (next: KnownDrafts): void => {
    latest.current = next;
    setDrafts(next);
  };
  const keep = (isKept: (id: string, entry: KnownDraft) => boolean): void =>
    set(new Map([...latest.current].filter(([id, entry]) => isKept(id, entry))));
  return {
    drafts,
    add(entries) {
      if (entries.length > 0) set(new Map([...latest.current, ...entries]));
    },
    drop(ids) {
      const dropped = new Set(ids);
      keep((id) => !dropped.has(id));
    },
    forget: (settled) => keep((id, entry) => settled.get(id) !== entry),
    isOurs: (id) => ['pending', 'ours'].includes(latest.current.get(id)?.kind ?? ''),
    settled: () => new Map([...latest.current].filter(([, { kind }]) => kind !== 'pending')),
  };
}

function each(ids: string[], kind: 'pending' | 'ours' | 'gone'): [string, KnownDraft][] {
  return ids.map((id) => [id, { kind }]);
}

/** Reloads the list at a change, and once more for all changes soon after it. */
function useRenewal(
  rows: number,
  known: Pick<Known, 'settled' | 'forget'>,
): { isOld: boolean; renewSoon: () => void; renew: () => void } {
  const refresh = useRefresh();
  const [isOld, setOld] = useState(false);
  const renew = async (): Promise<void> => {
    setOld(false);
    const settled = known.settled();
    await refresh('GET /projects/:project/drafts');
    known.forget(settled);
  };
  const tick = async (): Promise<void> => {
    void refresh(
      'GET /projects/:project/drafts/counts',
      'GET /projects/:project/counts',
      'GET /projects/:project/review/today',
    );
    if (rows < RENEWED_BELOW) await renew();
    else setOld(true);
  };
  const latest = useRef(tick);
  useEffect(() => {
    latest.current = tick;
  });
  const [soon] = useState(() => createSoon(() => latest.current(), RENEW_EVERY_MS));
  useEffect(
    () => () => {
      // The cached list may show drafts that were decided since it was loaded.
      if (soon.stop()) void refresh(...LISTS);
    },
    [soon],
  );
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
