import { useEffect, useRef } from 'react';
import type { DraftMoved } from '@beckon/contract/dashboard';
import { ApiError, useCall, useRefresh } from '../../api/index.ts';
import { formatTime, refused, undoable, useZone } from '../../parts/index.ts';

/** What is acted on: `content_hash` is the text that whoever acts has seen. */
export type Seen = { id: string; subject: string; content_hash: string };

export type Acts = {
  approve: (draft: Seen, anyway?: boolean) => void;
  skip: (draft: Seen, reason: string) => void;
  postpone: (draft: Seen, until: number, extend: boolean) => void;
  /** Takes back what was done last, if that is still to be had. */
  undoLast: () => void;
  /** What was done to many, to be taken back like the rest. */
  remember: (ids: string[], message: string) => void;
};

export type ActsOptions = {
  /** At once, before anything is sent: it is decided about. */
  onLeave: (ids: string[]) => void;
  /** It was refused, or taken back. */
  onReturn: (ids: string[]) => void;
  /** The server has it. */
  onDone: (ids: string[]) => void;
};

const UNDO_MS = 10_000;
type Done = { ids: string[]; at: number; hide: () => void };

/** What a person decides about letters. The page does not wait for the server; what it refuses comes back with its reason. */
export function useActs(on: ActsOptions): Acts {
  const call = useCall();
  const refresh = useRefresh();
  const zone = useZone();
  const latest = useRef(on);
  useEffect(() => {
    latest.current = on;
  });
  const { remember, undoLast } = useUndo((ids) => latest.current.onReturn(ids));

  async function act(
    id: string,
    send: () => Promise<{ data: DraftMoved }>,
    words: (moved: DraftMoved) => string,
  ) {
    latest.current.onLeave([id]);
    try {
      const { data } = await send();
      latest.current.onDone([id]);
      remember([id], words(data));
    } catch (error) {
      latest.current.onReturn([id]);
      if (!(error instanceof ApiError)) throw error;
      refused(error);
    }
    void refresh('GET /projects/:project/drafts/:draft');
  }

  return {
    remember,
    undoLast,
    approve(draft, anyway = false) {
      const { id, content_hash: hash } = draft;
      const ask = { params: { draft: id }, body: anyway ? { hash, anyway } : { hash } };
      const send = () => call('POST /projects/:project/drafts/:draft/approve', ask);
      void act(id, send, (moved) => approvedWords(draft, moved, zone));
    },
    skip({ id, subject }, reason) {
      const ask = { params: { draft: id }, body: reason.trim() === '' ? {} : { reason: reason.trim() } };
      const send = () => call('POST /projects/:project/drafts/:draft/skip', ask);
      void act(id, send, () => `Skipped “${subject}”`);
    },
    postpone({ id, subject }, at, extend) {
      const until = new Date(at).toISOString();
      const ask = { params: { draft: id }, body: extend ? { until, extend } : { until } };
      const send = () => call('POST /projects/:project/drafts/:draft/postpone', ask);
      void act(id, send, () => `Put off to ${formatTime(until, zone)}: “${subject}”`);
    },
  };
}

/** For ten seconds what was done can be taken back: by its notice, or the last of all by a key. */
function useUndo(onReturn: (ids: string[]) => void): Pick<Acts, 'remember' | 'undoLast'> {
  const call = useCall();
  const refresh = useRefresh();
  const done = useRef<Done[]>([]);

  async function undo(one: Done): Promise<void> {
    done.current = done.current.filter((other) => other !== one);
    one.hide();
    const back: string[] = [];
    let fault: ApiError | null = null;
    for (const draft of one.ids) {
      try {
        await call('POST /projects/:project/drafts/:draft/undo', { params: { draft }, body: {} });
        back.push(draft);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        fault = error;
      }
    }
    if (back.length > 0) onReturn(back);
    if (fault) refused(fault, 'Not taken back');
    void refresh('GET /projects/:project/drafts/:draft');
  }

  return {
    remember(ids, message) {
      const one: Done = { ids, at: Date.now(), hide: undoable({ message, undo: () => void undo(one) }) };
      done.current = [...done.current.filter(({ at }) => Date.now() - at < UNDO_MS), one];
    },
    undoLast() {
      const last = done.current.findLast(({ at }) => Date.now() - at < UNDO_MS);
      if (last) void undo(last);
    },
  };
}

function approvedWords({ subject }: Seen, { gate }: DraftMoved, zone: string): string {
  if (!gate) return `Approved “${subject}”`;
  const until = gate.until === null ? '' : `, until ${formatTime(gate.until, zone)}`;
  return `Approved “${subject}”. It leaves later: ${gate.sentence}${until}`;
}
