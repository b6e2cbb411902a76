import { getRouteApi, useNavigate } from '@tanstack/react-router';
import type { DraftListed, DraftWhole } from '@beckon/contract/dashboard';
import { useDeferredValue, useEffect, useRef, useState } from 'react';
import { useApi, useMay, useProject } from '../../api/index.ts';
import { afterLeaving, useKept } from '../../parts/index.ts';
import { step } from '../../parts/choose.ts';
import type { Pane } from './email-view.tsx';
import type { Tools } from './reading-pane.tsx';
import { type Acts, type Seen, useActs } from './use-acts.ts';
import { type Bulk, useBulk } from './use-bulk.ts';
import { withoutEditor } from './known-drafts.ts';
import { useGoTo } from './use-go-to.ts';
import { useReviewKeys } from './use-review-keys.ts';
import type { Review } from './use-review.ts';

const route = getRouteApi('/p/$project/review');

/** The current or last dialog. It keeps the draft that it was opened for. */
export type ReviewDialogState = { what: 'postpone' | 'skip' | 'anyway'; email: Email; isOpen: boolean };
/** `requested`: the member opened it; `open`: it is shown if there is space. */
export type WhyPane = 'open' | 'requested' | 'closed';

/** The state of Review: the current draft, the selection, and the open dialog. */
export type ReviewState = {
  /** The draft in the URL; on a wide page the first one by default. */
  current: string | undefined;
  /** The same with a delay, so that moving fast through the list does not load the context of each draft. */
  read: string | undefined;
  isNamed: boolean;
  show: (id: string | undefined) => void;
  pane: Pane;
  setPane: (pane: Pane) => void;
  why: WhyPane;
  isEditing: boolean;
  stopEditing: () => void;
  /** The server saved an edit as this row. */
  saved: (row: DraftListed, andApprove: boolean) => void;
  dialog: ReviewDialogState | null;
  close: () => void;
  tools: Tools;
  acts: Acts;
  bulk: Bulk;
};

export type Email = { row: DraftListed; seen: Seen };

export function useReviewState(review: Review): ReviewState {
  const { draft: named, pane = 'desktop' } = route.useSearch();
  const navigate = route.useNavigate();
  const goTo = useGoTo();
  const current = useCurrent(review);
  const read = useDeferredValue(current);
  const [why, setWhy] = useState<WhyPane>('open');
  const [editing, setEditing] = useKept<string | null>('review:editing', null);
  const [dialog, setDialog] = useState<ReviewDialogState | null>(null);
  const show = (id: string | undefined): void => {
    setEditing(null);
    goTo(id);
  };
  const setPane = (next: Pane): void =>
    void navigate({
      search: (was) => ({ ...was, pane: next === 'desktop' ? undefined : next }),
      replace: true,
    });
  const { acts, bulk } = useDecisions(review, { current, show });
  const { email, holds } = useEmail(review.rows, { current, read });
  const openDialog = (what: ReviewDialogState['what']): void => {
    if (email) setDialog({ what, email, isOpen: true });
  };
  const tools: Tools = {
    approve: () =>
      email?.row.user.email !== null && (holds && email ? acts.approve(email.seen) : openDialog('anyway')),
    edit: () => setEditing(current ?? null),
    postpone: () => openDialog('postpone'),
    skip: () => openDialog('skip'),
    why: () => setWhy(why === 'requested' ? 'closed' : 'requested'),
  };
  const state: ReviewState = {
    current,
    read,
    isNamed: named !== undefined,
    show,
    pane,
    setPane,
    why,
    isEditing: editing !== null && editing === current,
    dialog,
    tools,
    acts,
    bulk,
    stopEditing: () => setEditing(null),
    saved(row, andApprove) {
      review.put([withoutEditor(row)]);
      setEditing(null);
      const saved = { row, seen: seenOf(row) };
      if (!andApprove) return;
      if (holds) acts.approve(saved.seen);
      else setDialog({ what: 'anyway', email: saved, isOpen: true });
    },
    close: () => setDialog(dialog && { ...dialog, isOpen: false }),
  };
  useReviewStateKeys(state, review);
  return state;
}

/** The actions on one draft and on many. The page shows the next draft after one, and an undone draft again. */
function useDecisions(
  review: Review,
  { current, show }: Pick<ReviewState, 'current' | 'show'>,
): Pick<ReviewState, 'acts' | 'bulk'> {
  const leave = (ids: string[]): void => {
    const leaving = new Set(ids);
    const keys = review.rows.map(({ id }) => id);
    if (current !== undefined && leaving.has(current)) show(afterLeaving(keys, leaving, current));
    bulk.drop(ids);
    review.leave(ids);
  };
  const undone = (back: DraftListed[]): void => {
    review.put(back);
    show(back[0]?.id);
  };
  const acts = useActs({
    onLeave: leave,
    onFailed: review.comeBack,
    onUndone: undone,
    onDone: review.settle,
  });
  const bulk = useBulk({ leave, remember: acts.remember, settle: review.settle });
  return { acts, bulk };
}

function useReviewStateKeys(state: ReviewState, { rows, isEmpty }: Review): void {
  const go = useNavigate();
  const project = String(useProject().id);
  const may = { review: useMay('reviewer'), edit: useMay('editor') };
  const stepFrom = useSteps(rows, state.current);
  useReviewKeys({
    ...state,
    stepFrom,
    may,
    isEmpty,
    openAlone: (draft) => void go({ to: '/p/$project/drafts/$draft', params: { project, draft } }),
  });
}

/**
 * Keeps the current draft while others are added or removed: a key must act on the draft that the member saw.
 * A new filter starts with its first draft.
 */
function useCurrent({ list, rows }: Review): string | undefined {
  const { draft: named, filter } = route.useSearch();
  const [last, setLast] = useState<{ filter: string | undefined; id: string }>();
  const before = last && last.filter === filter ? last.id : undefined;
  const first = rows[0]?.id;
  const current = named ?? before ?? first;
  // The list may still belong to the previous filter.
  const isKnown = current !== first || !list.isStale;
  if (current !== undefined && current !== before && isKnown) setLast({ filter, id: current });
  return current;
}

/** The draft this many places further; from the former position if the current draft was removed. */
function useSteps(rows: DraftListed[], current: string | undefined): (by: number) => string | undefined {
  const keys = rows.map(({ id }) => id);
  const at = current === undefined ? -1 : keys.indexOf(current);
  const was = useRef(at);
  useEffect(() => {
    if (at >= 0) was.current = at;
  }, [at]);
  return (by) => {
    if (at >= 0 || was.current < 0) return step(keys, current, by);
    const next = was.current + (by > 0 ? by - 1 : by);
    return keys[Math.min(keys.length - 1, Math.max(0, next))];
  };
}

type DraftSelection = Pick<ReviewState, 'current' | 'read'>;

/** Actions apply to what was shown: the full draft, once it is loaded. The next one is preloaded. */
function useEmail(
  rows: DraftListed[],
  { current, read }: DraftSelection,
): { email: Email | null; holds: boolean } {
  const keys = rows.map(({ id }) => id);
  const isThere = current === read;
  const ahead = step(keys, read, 1);
  const whole = useDraft(current, isThere);
  useDraft(ahead, isThere);
  useContext(ahead, isThere);
  const row = whole ?? rows.find(({ id }) => id === current);
  if (!row) return { email: null, holds: true };
  return { email: { row, seen: seenOf(row) }, holds: whole?.rule_holds !== false };
}

function seenOf({ id, subject, content_hash }: DraftListed): Seen {
  return { id, subject, content_hash };
}

function useDraft(id: string | undefined, isNeeded: boolean): DraftWhole | undefined {
  const enabled = isNeeded && id !== undefined;
  return useApi('GET /projects/:project/drafts/:draft', { params: { draft: id ?? '' } }, { enabled }).data
    ?.data;
}

function useContext(id: string | undefined, isNeeded: boolean): void {
  const enabled = isNeeded && id !== undefined;
  useApi('GET /projects/:project/drafts/:draft/context', { params: { draft: id ?? '' } }, { enabled });
}
