import { Button, List, Modal, Stack, Text, TextInput } from '@mantine/core';
import { Pause, Play } from 'lucide-react';
import type { PauseEffect, ResumeEffect } from '@beckon/contract/dashboard';
import { type ReactNode, useState } from 'react';
import { type ReadKey, useApi, useChange, useMay, useProject } from '../../api/index.ts';
import { DialogFoot, ErrorBox, Lines, Loaded, notify } from '../../parts/index.ts';
import { Form } from '../../parts/form.tsx';
import { Muted } from '../../parts/muted.tsx';
import { textProps } from '../../parts/bind.ts';

type Props = { opened: boolean; onClose: () => void };

const FOLLOWS: ReadKey[] = [
  'GET /projects',
  'GET /projects/:project/home',
  'GET /projects/:project/counts',
  'GET /projects/:project/pause',
  'GET /projects/:project/resume',
  'GET /projects/:project/schedule',
  'GET /projects/:project/settings',
  'GET /projects/:project/drafts',
];

/** Pauses or resumes all emails of the project, after showing the effect on waiting drafts. */
export function PauseDialog({ opened, onClose }: Props): ReactNode {
  const { name, paused } = useProject();
  const title = paused ? `Resume sending for ${name}` : `Pause sending for ${name}`;
  return (
    <Modal opened={opened} onClose={onClose} title={title}>
      {opened && (paused ? <Resume onClose={onClose} /> : <PauseForm onClose={onClose} />)}
    </Modal>
  );
}

function PauseForm({ onClose }: Pick<Props, 'onClose'>): ReactNode {
  const mayPause = useMay('admin');
  const query = useApi('GET /projects/:project/pause', {}, { staleTimeMs: 0 });
  const pause = useChange('POST /projects/:project/pause', {
    refreshes: FOLLOWS,
    onDone: () => {
      notify('Sending paused');
      onClose();
    },
  });
  return (
    <Stack gap="md">
      <Text size="sm">
        No email is sent while sending is paused. Events are still accepted, and drafts are still created. You
        can resume at any time.
      </Text>
      <Loaded query={query} skeleton={<Lines count={3} />}>
        {({ data }) => <KeptBack effect={data} />}
      </Loaded>
      {pause.error && <ErrorBox error={pause.error} />}
      <DialogFoot onCancel={onClose}>
        <Button
          data-autofocus
          color="red.9"
          leftSection={<Pause size={15} aria-hidden="true" />}
          disabled={!mayPause}
          loading={pause.isPending}
          onClick={() => pause.mutate({})}
        >
          Pause sending
        </Button>
      </DialogFoot>
      {!mayPause && <NeedsAdmin />}
    </Stack>
  );
}

function KeptBack({ effect: { next_hour, next_day, open, truncated } }: { effect: PauseEffect }): ReactNode {
  const more = truncated ? ' at least' : '';
  return (
    <List size="sm" spacing={4}>
      <List.Item>
        <b>{next_hour.toLocaleString('en')}</b>
        {more} would be sent within an hour
      </List.Item>
      <List.Item>
        <b>{next_day.toLocaleString('en')}</b>
        {more} would be sent within a day
      </List.Item>
      <List.Item>
        {open.toLocaleString('en')} drafts are open in total; their expiry does not change
      </List.Item>
    </List>
  );
}

function Resume({ onClose }: Pick<Props, 'onClose'>): ReactNode {
  const query = useApi('GET /projects/:project/resume', {}, { staleTimeMs: 0 });
  return (
    <Loaded query={query} skeleton={<Lines count={5} />}>
      {({ data }) => <ResumeForm effect={data} onClose={onClose} refetch={() => void query.refetch()} />}
    </Loaded>
  );
}

type ResumeProps = Pick<Props, 'onClose'> & { effect: ResumeEffect; refetch: () => void };

function ResumeForm({ effect, onClose, refetch }: ResumeProps): ReactNode {
  const mayResume = useMay('admin');
  const [typed, setTyped] = useState('');
  const resume = useChange('POST /projects/:project/resume', {
    refreshes: FOLLOWS,
    onDone: ({ data: { canceled, postponed } }) => {
      notify(`Sending resumed. ${postponed} drafts are sent after 15 minutes; ${canceled} had expired.`);
      onClose();
    },
    // The count may have changed.
    onRefused: refetch,
  });
  const { needs_confirmation: needsConfirmation, long_held: longHeld } = effect;
  const isRight = !needsConfirmation || typed.trim() === String(longHeld);
  const submit = (): void => {
    if (isRight && mayResume) resume.mutate({ body: needsConfirmation ? { confirmed: longHeld } : {} });
  };
  return (
    <Form onSubmit={submit}>
      <Backlog effect={effect} />
      {needsConfirmation && (
        <TextInput
          data-autofocus
          label={
            <>
              {longHeld} drafts were held for more than a day. Type <code>{longHeld}</code> to release them
            </>
          }
          inputMode="numeric"
          autoComplete="off"
          {...textProps(typed, setTyped)}
        />
      )}
      {resume.error && <ErrorBox error={resume.error} />}
      <DialogFoot onCancel={onClose} cancel="Keep paused">
        <Button
          type="submit"
          leftSection={<Play size={15} aria-hidden="true" />}
          disabled={!isRight || !mayResume}
          loading={resume.isPending}
        >
          {' '}
          Resume sending
        </Button>
      </DialogFoot>
      {!mayResume && <NeedsAdmin />}
    </Form>
  );
}

function Backlog({ effect: { open, overdue, expired, held } }: { effect: ResumeEffect }): ReactNode {
  return (
    <Stack gap="xs">
      <Text size="sm">All waiting drafts are checked again before they are sent:</Text>
      <List size="sm" spacing={4}>
        <List.Item>
          <b>{overdue.toLocaleString('en')}</b> are due. They are sent after 15 minutes, spread over 30
          minutes. You can still review them.
        </List.Item>
        <List.Item>
          <b>{expired.toLocaleString('en')}</b> have expired and are canceled
        </List.Item>
        <List.Item>
          {open.toLocaleString('en')} are open in total; {held.toLocaleString('en')} of them are held for
          other reasons
        </List.Item>
      </List>
    </Stack>
  );
}

function NeedsAdmin(): ReactNode {
  return <Muted size="xs">This requires the admin role.</Muted>;
}
