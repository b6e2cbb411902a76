import { Button, Group } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import type { DraftWhole } from '@beckon/contract/dashboard';
import { CalendarClock, Check, Pencil, RotateCcw, SkipForward } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useChange, useMay, useProject, useRefresh } from '../../api/index.ts';
import { ConfirmTyped, refused, told, useKeys } from '../../parts/index.ts';
import { AnywayDialog, PostponeDialog, SkipDialog } from './dialogs.tsx';
import { firstClick } from './first-click.ts';
import { SendTest } from './send-test.tsx';
import { type Acts, type Seen, useActs } from './use-acts.ts';

type Opened = 'postpone' | 'skip' | 'anyway' | 'again' | null;

/** What may be done with a letter that stands by itself. */
export function DraftActs({ draft, onEdit }: { draft: DraftWhole; onEdit: () => void }): ReactNode {
  const [opened, open] = useState<Opened>(null);
  const mayEdit = useMay('editor');
  const acts = useDraftActs();
  const seen = seenOf(draft);
  const approve = (): void => (draft.rule_holds === false ? open('anyway') : acts.approve(seen));
  const isOpen = isUndecided(draft);
  const edit = isOpen && mayEdit ? onEdit : null;
  useDraftKeys({ isOpen, approve, open, edit, undo: acts.undoLast });
  if (!useMay('reviewer')) return null;
  return (
    <>
      <Group gap="xs" onClickCapture={firstClick}>
        {isOpen && <OpenActs draft={draft} approve={approve} open={open} onEdit={edit} />}
        <SendTest draft={draft.id} />
        {(draft.state === 'failed' || draft.state === 'unknown') && (
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<RotateCcw size={15} aria-hidden="true" />}
            onClick={() => open('again')}
          >
            Send again
          </Button>
        )}
      </Group>
      <Dialogs draft={draft} opened={opened} close={() => open(null)} acts={acts} />
    </>
  );
}

function seenOf({ id, subject, content_hash }: DraftWhole): Seen {
  return { id, subject, content_hash };
}

function isUndecided({ ended_at: endedAt, state, lease }: DraftWhole): boolean {
  return endedAt === null && state !== 'sending' && (lease?.mine ?? true);
}

function useDraftActs(): Acts {
  const refresh = useRefresh();
  const renew = (): void =>
    void refresh('GET /projects/:project/drafts/:draft', 'GET /projects/:project/drafts/:draft/context');
  return useActs({ onLeave: () => undefined, onReturn: renew, onDone: renew });
}

type DraftKeys = {
  isOpen: boolean;
  approve: () => void;
  open: (what: Opened) => void;
  edit: (() => void) | null;
  undo: () => void;
};

function useDraftKeys({ isOpen, approve, open, edit, undo }: DraftKeys): void {
  const mayReview = useMay('reviewer');
  useKeys('Letter', {
    ...(isOpen && mayReview
      ? {
          a: { label: 'Approve', run: approve },
          h: { label: 'Put off', run: () => open('postpone') },
          s: { label: 'Skip', run: () => open('skip') },
        }
      : {}),
    ...(edit ? { e: { label: 'Edit', run: edit } } : {}),
    ...(mayReview ? { u: { label: 'Undo', run: undo } } : {}),
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
        title="Put this letter off"
        times={draft}
        zone={draft.user.time_zone}
        onPick={(at, extend) => acts.postpone(seen, at, extend)}
      />
      <SkipDialog
        opened={opened === 'skip'}
        onClose={close}
        title="Skip this letter"
        onSkip={(reason) => acts.skip(seen, reason)}
      />
      <AnywayDialog opened={opened === 'anyway'} onClose={close} onApprove={() => acts.approve(seen, true)} />
      <SendAgain draft={draft} opened={opened === 'again'} onClose={close} />
    </>
  );
}

type OpenActsProps = {
  draft: DraftWhole;
  approve: () => void;
  open: (what: Opened) => void;
  onEdit: (() => void) | null;
};

function OpenActs({ draft, approve, open, onEdit }: OpenActsProps): ReactNode {
  return (
    <>
      <Button
        size="compact-sm"
        leftSection={<Check size={15} aria-hidden="true" />}
        disabled={draft.state === 'approved'}
        onClick={approve}
      >
        Approve
      </Button>
      {onEdit && (
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<Pencil size={15} aria-hidden="true" />}
          onClick={onEdit}
        >
          Edit
        </Button>
      )}
      <Button
        size="compact-sm"
        variant="default"
        leftSection={<CalendarClock size={15} aria-hidden="true" />}
        onClick={() => open('postpone')}
      >
        Put off
      </Button>
      <Button
        size="compact-sm"
        variant="default"
        leftSection={<SkipForward size={15} aria-hidden="true" />}
        onClick={() => open('skip')}
      >
        Skip
      </Button>
    </>
  );
}

/** It may have arrived: whoever has it sent again looks at whom it goes to. */
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
      told('It is sent again, through all gates');
      onClose();
      const params = { project: String(project.id), draft: data.draft.id };
      void navigate({ to: '/p/$project/drafts/$draft', params });
    },
    onRefused: (error) => refused(error, 'Not sent again'),
  });
  const { external_user_id: user } = draft.user;
  return (
    <ConfirmTyped
      opened={opened}
      onClose={onClose}
      title="Send this letter again?"
      name={user}
      action="Send again"
      run={() => again.mutate({ params: { draft: draft.id }, body: { confirm: user } })}
      isRunning={again.isPending}
      error={again.error}
    >
      {draft.state === 'unknown'
        ? 'Nobody knows whether it arrived. If it did, this person gets it twice.'
        : 'It could not be sent. It goes again as a new letter, through all gates.'}
    </ConfirmTyped>
  );
}
