import { useEffect, useRef } from 'react';
import type { DraftMoved } from '@beckon/contract/dashboard';
import { ApiError, useCall, useRefresh } from '../../api/index.ts';
import { formatTime, inDoubt, refused, undoable, useZone } from '../../parts/index.ts';

/** The draft of an action: `content_hash` is the text that the member saw. */
export type Seen = { id: string; subject: string; content_hash: string };

export type Acts = {
  approve: (draft: Seen, anyway?: boolean) => void;
  skip: (draft: Seen, reason: string) => void;
  postpone: (draft: Seen, until: number, extend: boolean) => void;
  /** Undoes the last action, if that is still possible. */
  undoLast: () => void;
  /** Registers a bulk action for undo. */
  remember: (ids: string[], message: string) => void;
};

export type ActsOptions = {
  /** Runs before the request: the drafts are decided. */
  onLeave: (ids: string[]) => void;
  /** The action failed or was undone. */
  onReturn: (ids: string[]) => void;
  /** The server confirmed it. */
  onDone: (ids: string[]) => void;
};

/** Decisions about drafts. They are optimistic; a failed one returns to the list with its error. */
export function useActs(on: ActsOptions): Acts {
  const call = useCall();
  const refresh = useRefresh();
  const zone = useZone();
  const latest = useRef(on);
  useEffect(() => {
    latest.current = on;
  });
  const { begin, remember, undoLast } = useUndo((ids) => latest.current.onReturn(ids));

  async function act(
    id: string,
    send: () => Promise<{ data: DraftMoved }>,
    words: (moved: DraftMoved) => string,
  ) {
    const finish = begin([id]);
    latest.current.onLeave([id]);
    try {
      const { data } = await send();
      latest.current.onDone([id]);
      finish((undo) => undoable({ message: words(data), undo }));
    } catch (error) {
      latest.current.onReturn([id]);
      const isInDoubt = error instanceof ApiError && error.isInDoubt;
      finish(isInDoubt ? (undo) => inDoubt({ message: error.message, undo }) : null);
      if (!(error instanceof ApiError)) throw error;
      if (!isInDoubt) refused(error);
    }
    void refresh('GET /projects/:project/drafts/:draft');
  }

  return {
    remember,
    undoLast,
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

const UNDO_MS = 10_000;
type UndoEntry = {
  ids: string[];
  /** When the server responded; null until then. */
  at: number | null;
  hide: () => void;
  /** Resolves to true if there is anything to undo. */
  isThere: Promise<boolean>;
};
/** Offers undo in a notification; null: nothing was done. */
type FinishAction = (offer: ((undo: () => void) => () => void) | null) => void;

/**
 * An action can be undone from its request until ten seconds after the response: by its notification, or the last one
 * by a key. A pending action is undone after its response.
 */
function useUndo(
  onReturn: (ids: string[]) => void,
): Pick<Acts, 'remember' | 'undoLast'> & { begin: (ids: string[]) => FinishAction } {
  const entries = useRef<UndoEntry[]>([]);
  const takeBack = useTakeBack(onReturn);
  const drop = (entry: UndoEntry): void => {
    entries.current = entries.current.filter((other) => other !== entry);
  };
  const undo = async (entry: UndoEntry): Promise<void> => {
    drop(entry);
    entry.hide();
    if (await entry.isThere) await takeBack(entry.ids);
  };
  const begin = (ids: string[]): FinishAction => {
    const { promise: isThere, resolve } = Promise.withResolvers<boolean>();
    const entry: UndoEntry = { ids, at: null, hide: () => undefined, isThere };
    entries.current = [...entries.current.filter(isFresh), entry];
    return (offer) => {
      if (offer === null) drop(entry);
      // An action that was already undone needs no offer.
      else if (entries.current.includes(entry)) {
        entry.at = Date.now();
        entry.hide = offer(() => void undo(entry));
      }
      resolve(offer !== null);
    };
  };
  return {
    begin,
    remember: (ids, message) => begin(ids)((undo) => undoable({ message, undo })),
    undoLast() {
      const last = entries.current.findLast(isFresh);
      if (last) void undo(last);
    },
  };
}

function isFresh({ at }: UndoEntry): boolean {
  return at === null || Date.now() - at < UNDO_MS;
}

function useTakeBack(onReturn: (ids: string[]) => void): (ids: string[]) => Promise<void> {
  const call = useCall();
  const refresh = useRefresh();
  return async (ids) => {
    const back: string[] = [];
    let fault: ApiError | null = null;
    for (const draft of ids) {
      try {
        await call('POST /projects/:project/drafts/:draft/undo', { params: { draft }, body: {} });
        back.push(draft);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        fault = error;
      }
    }
    if (back.length > 0) onReturn(back);
    if (fault) refused(fault, 'Undo failed');
    void refresh('GET /projects/:project/drafts/:draft');
  };
}

function approvedWords({ subject }: Seen, { send_check: gate }: DraftMoved, zone: string): string {
  if (!gate) return `Approved “${subject}”`;
  const until = gate.until === null ? '' : `, until ${formatTime(gate.until, zone)}`;
  return `Approved “${subject}”. Held: ${gate.sentence}${until}`;
}
