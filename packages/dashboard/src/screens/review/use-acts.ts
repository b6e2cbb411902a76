import { useEffect, useRef } from 'react';
import type { DraftListed, DraftMoved } from '@beckon/contract/dashboard';
import { ApiError, useCall, useRefresh } from '../../api/index.ts';
import { beginUndoable, formatTime, refused, useZone } from '../../parts/index.ts';

/** The draft of an action: `content_hash` is the text that the member saw. */
export type Seen = { id: string; subject: string; content_hash: string };

export type Acts = {
  approve: (draft: Seen, anyway?: boolean) => void;
  skip: (draft: Seen, reason: string) => void;
  postpone: (draft: Seen, until: number, extend: boolean) => void;
  /** Registers a bulk action for undo. */
  remember: (ids: string[], message: string) => void;
};

export type ActsOptions = {
  /** Runs before the request: the drafts are decided. */
  onLeave: (ids: string[]) => void;
  /** The action failed. */
  onFailed: (ids: string[]) => void;
  /** The actions were undone. The rows are from the server. */
  onUndone: (rows: DraftListed[]) => void;
  /** The server confirmed it. */
  onDone: (ids: string[]) => void;
};

/** Review refreshes these itself while it is open. After it was left, its cached list would show a decided draft again. */
export const LISTS = [
  'GET /projects/:project/drafts',
  'GET /projects/:project/drafts/counts',
  'GET /projects/:project/counts',
] as const;

/**
 * Decisions about drafts. They are optimistic; a failed one returns to the list with its error. An action can be undone from its request
 * until its countdown ends, also on another screen.
 */
export function useActs(on: ActsOptions): Acts {
  const call = useCall();
  const refresh = useRefresh();
  const zone = useZone();
  const latest = useRef<ActsOptions | null>(on);
  useEffect(() => {
    latest.current = on;
    return () => {
      latest.current = null;
    };
  });
  const takeBack = useTakeBack(() => latest.current);

  async function act(
    id: string,
    send: () => Promise<{ data: DraftMoved }>,
    words: (moved: DraftMoved) => string,
  ) {
    const finish = beginUndoable(() => takeBack([id]));
    latest.current?.onLeave([id]);
    try {
      const { data } = await send();
      latest.current?.onDone([id]);
      finish({ message: words(data) });
    } catch (error) {
      latest.current?.onFailed([id]);
      const isInDoubt = error instanceof ApiError && error.isInDoubt;
      finish(isInDoubt ? { message: error.message, isInDoubt } : null);
      if (!(error instanceof ApiError)) throw error;
      if (!isInDoubt) refused(error);
    }
    void refresh('GET /projects/:project/drafts/:draft', ...(latest.current === null ? LISTS : []));
  }

  return {
    remember: (ids, message) => beginUndoable(() => takeBack(ids))({ message }),
    approve(draft, anyway = false) {
      const { id, content_hash: hash } = draft;
      const args = { params: { draft: id }, body: anyway ? { hash, anyway } : { hash } };
      const send = () => call('POST /projects/:project/drafts/:draft/approve', args);
      void act(id, send, (moved) => approvedWords(draft, moved, zone));
    },
    skip({ id, subject }, reason) {
      const args = { params: { draft: id }, body: reason.trim() === '' ? {} : { reason: reason.trim() } };
      const send = () => call('POST /projects/:project/drafts/:draft/skip', args);
      void act(id, send, () => `Skipped “${subject}”`);
    },
    postpone({ id, subject }, at, extend) {
      const until = new Date(at).toISOString();
      const args = { params: { draft: id }, body: extend ? { until, extend } : { until } };
      const send = () => call('POST /projects/:project/drafts/:draft/postpone', args);
      void act(id, send, () => `Postponed to ${formatTime(until, zone)}: “${subject}”`);
    },
  };
}

/** A skip is final after ten seconds, and 500 requests one after the other would take about as long. */
const UNDONE_AT_ONCE = 10;

function useTakeBack(on: () => ActsOptions | null): (ids: string[]) => Promise<void> {
  const call = useCall();
  const refresh = useRefresh();
  return async (ids) => {
    const back: DraftListed[] = [];
    let fault: ApiError | null = null;
    for (let at = 0; at < ids.length; at += UNDONE_AT_ONCE) {
      const undone = await Promise.allSettled(
        ids
          .slice(at, at + UNDONE_AT_ONCE)
          .map((draft) =>
            call('POST /projects/:project/drafts/:draft/undo', { params: { draft }, body: {} }),
          ),
      );
      for (const result of undone) {
        if (result.status === 'fulfilled') back.push(result.value.data.draft);
        else if (result.reason instanceof ApiError) fault = result.reason;
        else throw result.reason;
      }
    }
    if (back.length > 0) on()?.onUndone(back);
    if (fault) refused(fault, 'Undo failed');
    const lists = on() === null ? LISTS : (['GET /projects/:project/counts'] as const);
    void refresh('GET /projects/:project/drafts/:draft', ...lists);
  };
}

function approvedWords({ subject }: Seen, { send_check: gate }: DraftMoved, zone: string): string {
  if (!gate) return `Approved “${subject}”`;
  const until = gate.until === null ? '' : `, until ${formatTime(gate.until, zone)}`;
  return `Approved “${subject}”. Held: ${gate.sentence}${until}`;
}
