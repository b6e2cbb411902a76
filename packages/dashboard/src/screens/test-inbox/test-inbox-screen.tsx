import { Stack } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import type { TestInboxEmail, TestInboxState } from '@beckon/contract/dashboard';
import { Inbox, Info, Trash2 } from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import {
  apiUrl,
  useApi,
  useApiInfinite,
  useChange,
  useFeed,
  useMay,
  useProject,
  useRefresh,
} from '../../api/index.ts';
import { type Column, ConfirmTyped, DataTable, Empty, later, Page, notify, When } from '../../parts/index.ts';
import { ListBar } from '../../parts/list-bar.tsx';
import { useListLook } from '../../parts/list-look.ts';
import { Notice } from '../../parts/notice.tsx';
import { firstCalls } from '../../parts/sample-calls.ts';
import { TwoLines } from '../../parts/two-lines.tsx';
import { useSample } from '../../parts/use-sample.ts';
import { LinkButton } from '../../parts/link-button.tsx';
import { Muted } from '../../parts/muted.tsx';
import { ActButton } from '../../parts/act-button.tsx';

const FirstEvent = later(() => import('../../parts/first-event.tsx'), 'FirstEvent');

const route = getRouteApi('/p/$project/test-inbox');

/** An email arrives in the test inbox a moment after sending started, and the feed has no items for test copies. */
const ARRIVES_WITHIN_MS = 1_500;
const LOOK_EVERY_MS = 10_000;

export function TestInboxScreen(): ReactNode {
  const { filter } = route.useSearch();
  const navigate = route.useNavigate();
  const project = useProject();
  const state = useApi('GET /projects/:project/test-inbox/state', {}, { everyMs: LOOK_EVERY_MS });
  const list = useApiInfinite(
    'GET /projects/:project/test-inbox',
    { query: { filter } },
    { keep: true, everyMs: LOOK_EVERY_MS },
  );
  useArrivals();
  const { look, setLook } = useListLook('test_inbox');
  const mayExport = useMay('admin');
  const setFilter = (next: string | undefined): void =>
    void navigate({ search: { filter: next }, replace: true });
  const csv = apiUrl('GET /projects/:project/test-inbox.csv', {
    params: { project: project.id },
    query: { filter },
  });
  return (
    <Page title="Test inbox" actions={<Clear isEmpty={list.rows.length === 0} />} fill>
      <Stack gap="sm">
        {state.data && <StateSummary state={state.data.data} />}
        <ListBar
          list="test_inbox"
          label="Filter emails"
          filter={filter}
          onFilter={setFilter}
          fault={list.error}
          display={{ look, setLook, columns: COLUMNS }}
          csv={mayExport ? csv : undefined}
        />
      </Stack>
      <DataTable
        fill
        label="Emails in the test inbox"
        columns={COLUMNS}
        list={list}
        look={look}
        rowKey={({ id, copy }) => `${id} ${copy}`}
        link={({ id, copy }) => ({
          to: '/p/$project/test-inbox/$message',
          params: { project: String(project.id), message: id },
          search: copy === 1 ? {} : { copy },
        })}
        empty={<None filter={filter} state={state.data?.data} onClear={() => setFilter(undefined)} />}
      />
    </Page>
  );
}

/** Reloads when the sending of an email starts, and again when the email must have arrived. */
function useArrivals(): void {
  const refresh = useRefresh();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const look = (): void =>
    void refresh('GET /projects/:project/test-inbox', 'GET /projects/:project/test-inbox/state');
  useFeed(
    ({ type }) => type === 'email' || type === 'draft' || type === 'draft_changed',
    () => {
      look();
      clearTimeout(timer.current);
      timer.current = setTimeout(look, ARRIVES_WITHIN_MS);
    },
  );
}

const COLUMNS: Column<TestInboxEmail>[] = [
  {
    id: 'subject',
    title: 'Email',
    width: '3fr',
    cell: ({ subject, copy, copies }) => (
      <TwoLines
        first={subject === '' ? '(no subject)' : subject}
        second={copies > 1 ? `copy ${copy} of ${copies}` : undefined}
      />
    ),
  },
  { id: 'to', title: 'To', width: '2fr', cell: ({ to }) => to },
  {
    id: 'for',
    title: 'User',
    width: '1.4fr',
    cell: ({ external_user_id: user, kind }) => (kind === 'team' ? 'Team' : (user ?? '–')),
  },
  {
    id: 'size',
    title: 'Size',
    width: '80px',
    align: 'right',
    narrow: 'hide',
    cell: ({ size }) => `${Math.max(1, Math.round(size / 1024))} KB`,
  },
  { id: 'at', title: 'Received', width: '130px', cell: ({ at }) => <When at={at} style="relative" /> },
];

function StateSummary({ state }: { state: TestInboxState }): ReactNode {
  if (!state.in_use)
    return (
      <Notice icon={Info} title="Emails are now sent through your relay">
        The emails below were captured before the relay was set. Test copies go to the requested address.
      </Notice>
    );
  return (
    <Muted maw={760}>
      No relay is set, so emails are captured here and none leaves this machine. Stored for {state.kept_days}{' '}
      days, {state.kept_max.toLocaleString('en-GB')} at most.
      {state.waiting > 0 && (
        <>
          {' '}
          {state.waiting.toLocaleString('en-GB')} {state.waiting === 1 ? 'draft waits' : 'drafts wait'}
          {state.next_at !== null && (
            <>
              ; the next one is checked <When at={state.next_at} style="relative" />
            </>
          )}
          .
        </>
      )}
    </Muted>
  );
}

type NoneProps = { filter: string | undefined; state: TestInboxState | undefined; onClear: () => void };

function None({ filter, state, onClear }: NoneProps): ReactNode {
  const { email, newUser } = useSample();
  if (filter !== undefined)
    return (
      <Empty
        icon={Inbox}
        title="No emails match this filter"
        action={<ActButton onClick={onClear}>Show all emails</ActButton>}
      />
    );
  if (state && state.waiting > 0)
    return (
      <Empty
        icon={Inbox}
        title="Your first draft is waiting"
        action={
          <LinkButton variant="filled" to="/p/$project/review">
            Open Review
          </LinkButton>
        }
      >
        The first draft waits for its deadline or your approval. The email appears here when all send checks
        pass.
      </Empty>
    );
  return (
    <Empty
      icon={Inbox}
      title="No emails yet"
      action={<FirstEvent calls={firstCalls({ user: newUser, email })} what="first call" />}
    >
      Send an event of one of your users. A rule with this trigger creates a draft, and its email appears
      here.
    </Empty>
  );
}

function Clear({ isEmpty }: { isEmpty: boolean }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const mayClear = useMay('admin');
  const { name } = useProject();
  const clear = useChange('POST /projects/:project/test-inbox/clear', {
    refreshes: ['GET /projects/:project/test-inbox'],
    onDone: ({ data }) => {
      setOpen(false);
      notify(data.cleared === 1 ? '1 email deleted' : `${data.cleared} emails deleted`);
    },
  });
  if (!mayClear || isEmpty) return null;
  return (
    <>
      <ActButton icon={Trash2} onClick={() => setOpen(true)}>
        Clear test inbox
      </ActButton>
      <ConfirmTyped
        opened={isOpen}
        onClose={() => setOpen(false)}
        title="Delete all emails in the test inbox"
        name={name}
        action="Delete all"
        run={() => clear.mutate({ body: { confirm: name } })}
        change={clear}
      >
        This cannot be undone. Drafts and the records of sent emails are kept.
      </ConfirmTyped>
    </>
  );
}
