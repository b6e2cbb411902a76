import { Button, Group, Tooltip } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import type { DraftWhole } from '@beckon/contract/dashboard';
import { CalendarClock, Check, Pencil, RotateCcw, SkipForward } from 'lucide-react';
import type { ReactNode } from 'react';
import { useChange, useMay, useProject, useRefresh } from '../../api/index.ts';
import { ConfirmTyped, later, refused, notify, useKeys, WhenOpened } from '../../parts/index.ts';
import { firstClick } from './first-click.ts';
import { SendTest } from './send-test.tsx';
import { type Acts, LISTS, type Seen, useActs } from './use-acts.ts';

const SendAnywayDialog = later(() => import('./dialogs.tsx'), 'SendAnywayDialog', null);
const PostponeDialog = later(() => import('./dialogs.tsx'), 'PostponeDialog', null);
const SkipDialog = later(() => import('./dialogs.tsx'), 'SkipDialog', null);

/** The open dialog of a draft's page. */
export type Opened = 'postpone' | 'skip' | 'anyway' | 'again' | null;

type DraftActsProps = {
  draft: DraftWhole;
  acts: Acts;
  opened: Opened;
  open: (what: Opened) => void;
  isEditing: boolean;
  onEdit: () => void;
};

/** The actions of a draft's own page. As in Review, none is available while the editor is open. */
export function DraftActs({ draft, acts, opened, open, isEditing, onEdit }: DraftActsProps): ReactNode {
  const mayEdit = useMay('editor');
  const seen = seenOf(draft);
  const canApprove = draft.user.email !== null && draft.state !== 'approved';
  const approve = (): void => {
    if (!canApprove) return;
    if (draft.rule_holds === false) open('anyway');
    else acts.approve(seen);
  };
  const isOpen = isUndecided(draft);
  const edit = isOpen && mayEdit ? onEdit : null;
  useDraftKeys({ isOpen: isOpen && !isEditing, approve, open, edit: isEditing ? null : edit });
  if (!useMay('reviewer')) return null;
  return (
    <>
      <Group gap="xs" onClickCapture={firstClick}>
        {isOpen && <OpenActs {...{ draft, canApprove, isEditing, approve, open }} onEdit={edit} />}
        <SendTest draft={draft.id} />
        {(draft.state === 'failed' || draft.state === 'unknown') && (
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<RotateCcw size={15} aria-hidden="true" />}
            onClick={() => open('again')}
          >
            Resend
          </Button>
        )}
      </Group>
      <WhenOpened opened={opened !== null}>
        <Dialogs draft={draft} opened={opened} close={() => open(null)} acts={acts} />
      </WhenOpened>
    </>
  );
}

function seenOf({ id, subject, content_hash }: DraftWhole): Seen {
  return { id, subject, content_hash };
}

function isUndecided({ ended_at: endedAt, state, lease }: DraftWhole): boolean {
  return endedAt === null && state !== 'sending' && (lease?.mine ?? true);
}

export function useDraftActs(): Acts {
  const refresh = useRefresh();
  const renew = (): void =>
    void refresh(
      'GET /projects/:project/drafts/:draft',
      'GET /projects/:project/drafts/:draft/context',
      ...LISTS,
    );
  return useActs({ onLeave: () => undefined, onFailed: renew, onUndone: renew, onDone: renew });
}

type DraftKeys = {
  isOpen: boolean;
  approve: () => void;
  open: (what: Opened) => void;
  edit: (() => void) | null;
};

function useDraftKeys({ isOpen, approve, open, edit }: DraftKeys): void {
  const mayReview = useMay('reviewer');
  useKeys('Draft', {
    ...(isOpen && mayReview
      ? {
          a: { label: 'Approve', run: approve },
          h: { label: 'Postpone', run: () => open('postpone') },
          s: { label: 'Skip', run: () => open('skip') },
        }
      : {}),
    ...(edit ? { e: { label: 'Edit', run: edit } } : {}),
  });
}

type DialogsProps = { draft: DraftWhole; opened: Opened; close: () => void; acts: Acts };

function Dialogs({ draft, opened, close, acts }: DialogsProps): ReactNode {
  const seen = seenOf(draft);
  return (
    <>
      <PostponeDialog
        opened={opened === 'postpone'}
        onClose={close}
        title="Postpone draft"
        times={draft}
        zone={draft.user.time_zone}
        onPick={(at, extend) => acts.postpone(seen, at, extend)}
      />
      <SkipDialog
        opened={opened === 'skip'}
        onClose={close}
        title="Skip draft"
        onSkip={(reason) => acts.skip(seen, reason)}
      />
      <SendAnywayDialog
        opened={opened === 'anyway'}
        onClose={close}
        onApprove={() => acts.approve(seen, true)}
      />
      <SendAgain draft={draft} opened={opened === 'again'} onClose={close} />
    </>
  );
}

type OpenActsProps = {
  draft: DraftWhole;
  canApprove: boolean;
  isEditing: boolean;
  approve: () => void;
  open: (what: Opened) => void;
  onEdit: (() => void) | null;
};

function OpenActs({ draft, canApprove, isEditing, approve, open, onEdit }: OpenActsProps): ReactNode {
  return (
    <>
      <Tooltip label="The user has no email address" disabled={draft.user.email !== null}>
        <Button
          size="compact-sm"
          leftSection={<Check size={15} aria-hidden="true" />}
          disabled={isEditing || !canApprove}
          onClick={approve}
        >
          Approve
        </Button>
      </Tooltip>
      {onEdit && (
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<Pencil size={15} aria-hidden="true" />}
          disabled={isEditing}
          onClick={onEdit}
        >
          Edit
        </Button>
      )}
      <Button
        size="compact-sm"
        variant="default"
        leftSection={<CalendarClock size={15} aria-hidden="true" />}
        disabled={isEditing}
        onClick={() => open('postpone')}
      >
        Postpone
      </Button>
      <Button
        size="compact-sm"
        variant="default"
        leftSection={<SkipForward size={15} aria-hidden="true" />}
        disabled={isEditing}
        onClick={() => open('skip')}
      >
        Skip
      </Button>
    </>
  );
}

/** The first email may have arrived, so the member confirms the recipient. */
function SendAgain({
  draft,
  opened,
  onClose,
}: {
  draft: DraftWhole;
  opened: boolean;
  onClose: () => void;
}): ReactNode {
  const project = useProject();
  const navigate = useNavigate();
  const again = useChange('POST /projects/:project/drafts/:draft/send-again', {
    refreshes: ['GET /projects/:project/drafts/:draft'],
    onDone({ data }) {
      notify('Resending. All send checks apply.');
      onClose();
      const params = { project: String(project.id), draft: data.draft.id };
      void navigate({ to: '/p/$project/drafts/$draft', params });
    },
    onRefused: (error) => refused(error, 'Not resent'),
  });
  const { external_user_id: user } = draft.user;
  return (
    <ConfirmTyped
      opened={opened}
      onClose={onClose}
      title="Resend this email?"
      name={user}
      action="Resend"
      run={() => again.mutate({ params: { draft: draft.id }, body: { confirm: user } })}
      change={again}
    >
      {draft.state === 'unknown'
        ? 'It is unknown whether the first email arrived. If it did, this user gets it twice.'
        : 'The email could not be sent. It is sent again as a new email, and all send checks apply.'}
    </ConfirmTyped>
  );
}
