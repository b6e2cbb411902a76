import type { ReactNode } from 'react';
import { useProjectZone } from '../../parts/index.ts';
import { PostponeDialog, SendAnywayDialog, SkipDialog } from './dialogs.tsx';
import type { ReviewState } from './use-review-state.ts';

/** The dialogs before an action: the time, the reason, or a confirmation. */
export function ReviewDialogs({ state }: { state: ReviewState }): ReactNode {
  const { dialog, close, acts, bulk } = state;
  const zone = useProjectZone();
  const email = dialog?.email;
  const open = dialog?.isOpen === true ? dialog.what : null;
  return (
    <>
      {email && (
        <>
          <PostponeDialog
            opened={open === 'postpone'}
            onClose={close}
            title="Postpone draft"
            times={email.row}
            zone={email.row.user.time_zone}
            onPick={(at, extend) => acts.postpone(email.seen, at, extend)}
          />
          <SkipDialog
            opened={open === 'skip'}
            onClose={close}
            title="Skip draft"
            onSkip={(reason) => acts.skip(email.seen, reason)}
          />
          <SendAnywayDialog
            opened={open === 'anyway'}
            onClose={close}
            onApprove={() => acts.approve(email.seen, true)}
          />
        </>
      )}
      <PostponeDialog
        opened={bulk.dialog === 'postpone'}
        onClose={() => bulk.openDialog(null)}
        title="Postpone selected drafts"
        times={NO_TIMES}
        zone={zone}
        onPick={(at) => bulk.want({ kind: 'postpone', until: new Date(at).toISOString() })}
      />
      <SkipDialog
        opened={bulk.dialog === 'skip'}
        onClose={() => bulk.openDialog(null)}
        title="Skip selected drafts"
        onSkip={(reason) => bulk.want(reason.trim() === '' ? { kind: 'skip' } : { kind: 'skip', reason })}
      />
    </>
  );
}

/** Several drafts have no common times: the preview shows which of them cannot be postponed. */
const NO_TIMES = {
  deadline_at: null,
  expires_at: null,
  ends_at: null,
  state: 'scheduled',
  resume_state: null,
} as const;
