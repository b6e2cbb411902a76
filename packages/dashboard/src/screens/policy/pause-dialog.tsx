import { Button, List, Modal, Stack, Text, TextInput } from '@mantine/core';
import { Pause, Play } from 'lucide-react';
import type { PauseEffect, ResumeEffect } from '@beckon/contract/dashboard';
import { type ReactNode, type SyntheticEvent, useState } from 'react';
import { type ReadKey, useApi, useChange, useMay, useProject } from '../../api/index.ts';
import { DialogFoot, ErrorBox, Lines, Loaded, told } from '../../parts/index.ts';

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

/** Stops all letters of the project at once, or lets them go on: each says first what it does to how many. */
export function PauseDialog({ opened, onClose }: Props): ReactNode {
  const { name, paused } = useProject();
  const title = paused ? `Let ${name} send again` : `Pause sending of ${name}`;
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
      told('Paused: nothing leaves');
      onClose();
    },
  });
  return (
    <Stack gap="md">
      <Text size="sm">
        From that moment on no letter leaves. Events are still accepted, and letters still drafted. You can
        let it go on whenever you want.
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
          Pause now
        </Button>
      </DialogFoot>
      {!mayPause && <NeedsAdmin />}
    </Stack>
  );
}

function KeptBack({ effect: { next_hour, next_day, open, is_cut } }: { effect: PauseEffect }): ReactNode {
  const more = is_cut ? ' at least' : '';
  return (
    <List size="sm" spacing={4}>
      <List.Item>
        <b>{next_hour.toLocaleString('en')}</b>
        {more} that would leave within an hour
      </List.Item>
      <List.Item>
        <b>{next_day.toLocaleString('en')}</b>
        {more} that would leave within a day
      </List.Item>
      <List.Item>{open.toLocaleString('en')} drafts are open in all; their expiry does not move</List.Item>
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
      told(`Sending again: ${postponed} leave from a quarter of an hour on, ${canceled} had expired`);
      onClose();
    },
    // The count may be another by now.
    onRefused: refetch,
  });
  const { needs_confirmation: isAsked, long_held: longHeld } = effect;
  const isRight = !isAsked || typed.trim() === String(longHeld);
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    if (isRight && mayResume) resume.mutate({ body: isAsked ? { confirmed: longHeld } : {} });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <Backlog effect={effect} />
        {isAsked && (
          <TextInput
            data-autofocus
            label={
              <>
                {longHeld} drafts were held for more than a day. Type <code>{longHeld}</code> to let them go
              </>
            }
            inputMode="numeric"
            autoComplete="off"
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
          />
        )}
        {resume.error && <ErrorBox error={resume.error} />}
        <DialogFoot onCancel={onClose} cancel="Stay paused">
          <Button
            type="submit"
            leftSection={<Play size={15} aria-hidden="true" />}
            disabled={!isRight || !mayResume}
            loading={resume.isPending}
          >
            Send again
          </Button>
        </DialogFoot>
        {!mayResume && <NeedsAdmin />}
      </Stack>
    </form>
  );
}

function Backlog({ effect: { open, overdue, expired, held } }: { effect: ResumeEffect }): ReactNode {
  return (
    <Stack gap="xs">
      <Text size="sm">What waited is looked at again, letter by letter, before anything leaves:</Text>
      <List size="sm" spacing={4}>
        <List.Item>
          <b>{overdue.toLocaleString('en')}</b> are due: they leave in a quarter of an hour at the earliest,
          spread over half an hour, and you can still look at them
        </List.Item>
        <List.Item>
          <b>{expired.toLocaleString('en')}</b> have expired meanwhile, and are dropped
        </List.Item>
        <List.Item>
          {open.toLocaleString('en')} are open in all; {held.toLocaleString('en')} of them something else
          holds
        </List.Item>
      </List>
    </Stack>
  );
}

function NeedsAdmin(): ReactNode {
  return (
    <Text size="xs" c="dimmed">
      This needs the role admin.
    </Text>
  );
}
