import { Button } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { BULK_MAX_ROWS, type EmailListed } from '@beckon/contract/dashboard';
import { RotateCcw, Send } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import {
  apiUrl,
  useApiInfinite,
  useChange,
  useFeed,
  useMay,
  useProject,
  useRefresh,
} from '../../api/index.ts';
import { type Column, DataTable, Empty, formatCount, Page, refused, When } from '../../parts/index.ts';
import { notifyBulk } from '../../parts/bulk-result.ts';
import { ListBar } from '../../parts/list-bar.tsx';
import { orderOf, useListLook } from '../../parts/list-look.ts';
import { TwoLines } from '../../parts/two-lines.tsx';
import { LinkButton } from '../../parts/link-button.tsx';
import { OutcomeMarks, StateMark } from './marks.tsx';
import { Muted } from '../../parts/muted.tsx';
import { ActButton } from '../../parts/act-button.tsx';

const route = getRouteApi('/p/$project/emails');

/** Filters that every project needs. */
const COMMON = [
  { name: 'Failed or unknown', filter: 'state:failed,unknown' },
  { name: 'Deferred', filter: 'state:deferred' },
  { name: 'Bounced', filter: 'outcome:bounced' },
  { name: 'Complained or unsubscribed', filter: 'outcome:complained,unsubscribed' },
  { name: 'Replied', filter: 'outcome:replied' },
];

export function EmailsScreen(): ReactNode {
  const { filter, message, sort = '-at' } = route.useSearch();
  const navigate = route.useNavigate();
  const project = useProject();
  const list = useApiInfinite('GET /projects/:project/emails', { query: { filter, sort } }, { keep: true });
  const { look, setLook } = useListLook('emails');
  const [chosen, setChosen] = useState(new Set<string>());
  const mayResend = useMay('reviewer');
  const mayExport = useMay('admin');
  const refresh = useRefresh();
  useFeed(
    ({ type }) => type === 'email' || type === 'outcome',
    () => void refresh('GET /projects/:project/emails'),
  );
  const setFilter = (next: string | undefined): void => {
    setChosen(new Set());
    void navigate({ search: (was) => ({ ...was, filter: next, message: undefined }), replace: true });
  };
  const order = orderOf(
    sort,
    (by) => void navigate({ search: (was) => ({ ...was, sort: by }), replace: true }),
  );
  const csv = apiUrl('GET /projects/:project/emails/export', {
    params: { project: project.id },
    query: { filter, sort },
  });
  return (
    <Page title="Sent emails" fill>
      <ListBar
        list="emails"
        label="Filter emails"
        filter={filter}
        onFilter={setFilter}
        fault={list.error}
        common={COMMON}
        display={{ look, setLook, columns: COLUMNS, ...order }}
        csv={mayExport ? csv : undefined}
      >
        {mayResend && <SendAgain chosen={chosen} onDone={() => setChosen(new Set())} />}
      </ListBar>
      <DataTable
        fill
        label="Emails"
        columns={COLUMNS}
        list={list}
        look={look}
        {...order}
        {...(mayResend ? { chosen, onChosen: setChosen } : {})}
        rowKey={({ id }) => id}
        link={({ id }) => ({
          to: '/p/$project/emails/$message',
          params: { project: String(project.id), message: id },
        })}
        current={message}
        onCurrent={(id) => void navigate({ search: (was) => ({ ...was, message: id }), replace: true })}
        empty={<None filter={filter} onClear={() => setFilter(undefined)} />}
      />
    </Page>
  );
}

const COLUMNS: Column<EmailListed>[] = [
  {
    id: 'to',
    title: 'To',
    width: '2fr',
    cell: ({ address, external_user_id: user }) => (
      <TwoLines first={address} second={user === address ? undefined : user} />
    ),
  },
  {
    id: 'email',
    title: 'Email',
    width: '2fr',
    cell: ({ subject, rule }) => (
      <TwoLines first={subject === '' ? '(no longer stored)' : subject} second={rule} />
    ),
  },
  { id: 'state', title: 'State', width: '140px', cell: (email) => <StateMark email={email} /> },
  {
    id: 'outcomes',
    title: 'Outcomes',
    width: '2fr',
    wraps: true,
    cell: ({ outcomes, state, reason_text: words }) =>
      outcomes.length === 0 && words !== null && state !== 'sent' ? (
        <Muted>{words}</Muted>
      ) : (
        <OutcomeMarks outcomes={outcomes.filter((name) => name !== 'bounced' || state !== 'sent')} />
      ),
  },
  {
    id: 'provider',
    title: 'Provider',
    width: '110px',
    narrow: 'hide',
    cell: ({ provider }) => provider ?? '–',
  },
  {
    id: 'at',
    title: 'Time',
    width: '130px',
    sort: true,
    cell: ({ claimed_at: at, ended_at: ended }) => <When at={ended ?? at} />,
  },
];

/** Creates new drafts for the selected emails that were not delivered. The server refuses the others, with the reason. */
function SendAgain({ chosen, onDone }: { chosen: Set<string>; onDone: () => void }): ReactNode {
  const again = useChange('POST /projects/:project/emails/send-again', {
    refreshes: ['GET /projects/:project/emails'],
    onRefused: (error) => refused(error),
    onDone: ({ data: { sent_again: sent, refused: refusals } }) => {
      notifyBulk({
        done: sent,
        one: 'email is sent again',
        many: 'emails are sent again',
        refused: refusals,
      });
      onDone();
    },
  });
  if (chosen.size === 0) return null;
  return (
    <Button
      variant="default"
      leftSection={<RotateCcw size={14} aria-hidden="true" />}
      loading={again.isPending}
      disabled={chosen.size > BULK_MAX_ROWS}
      onClick={() => again.mutate({ body: { emails: [...chosen] } })}
    >
      {chosen.size > BULK_MAX_ROWS ? `Select at most ${BULK_MAX_ROWS}` : `Resend ${formatCount(chosen.size)}`}
    </Button>
  );
}

function None({ filter, onClear }: { filter: string | undefined; onClear: () => void }): ReactNode {
  if (filter !== undefined)
    return (
      <Empty
        icon={Send}
        title="No emails match this filter"
        action={<ActButton onClick={onClear}>Show all emails</ActButton>}
      />
    );
  return (
    <Empty
      icon={Send}
      title="No emails yet"
      action={<LinkButton to="/p/$project/review">Open Review</LinkButton>}
    >
      Sent emails appear here with their SMTP replies and outcomes. A draft is sent when a member approves it,
      or at its deadline on autopilot.
    </Empty>
  );
}
