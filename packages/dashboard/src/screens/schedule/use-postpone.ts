import type { ScheduledDraft } from '@beckon/contract/dashboard';
import { useChange } from '../../api/index.ts';
import { formatTime, refused, undoable, useZone } from '../../parts/index.ts';

export type PostponeArgs = {
  draft: Pick<ScheduledDraft, 'id' | 'subject'>;
  until: string;
  extend?: boolean;
};

const CHANGED = [
  'GET /projects/:project/schedule',
  'GET /projects/:project/schedule/drafts',
  'GET /projects/:project/drafts',
] as const;

/** Postpones a draft, with undo for ten seconds. */
export function usePostpone(): (what: PostponeArgs) => void {
  const zone = useZone();
  const undo = useChange('POST /projects/:project/drafts/:draft/undo', {
    refreshes: [...CHANGED],
    onRefused: (error) => refused(error, 'Undo failed'),
  });
  const change = useChange('POST /projects/:project/drafts/:draft/postpone', {
    refreshes: [...CHANGED],
    onRefused: (error) => refused(error, 'Not postponed'),
  });
  return ({ draft, until, extend = false }) => {
    const params = { draft: draft.id };
    const body = { until, ...(extend ? { extend } : {}) };
    // The callbacks of `mutate` are not called if the list was replaced in the meantime.
    void change.mutateAsync({ params, body }).then(
      () =>
        undoable({
          message: `“${draft.subject}” postponed to ${formatTime(until, zone)}`,
          undo: () => undo.mutate({ params, body: {} }),
        }),
      // Reported by `onRefused`.
      () => undefined,
    );
  };
}
