import { Group, Select } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import type { EmailListed } from '@beckon/contract/dashboard';
import { Send } from 'lucide-react';
import type { ReactNode } from 'react';
import { apiUrl, useApiInfinite, useFeed, useMay, useProject, useRefresh } from '../../api/index.ts';
import { type Column, DataTable, Empty, FilterBox, Page, When } from '../../parts/index.ts';
import { TwoLines } from '../../parts/two-lines.tsx';
import { LinkButton } from '../../parts/link-button.tsx';
import { OutcomeMarks, StateMark } from './marks.tsx';
import { DownloadButton } from '../../parts/download-button.tsx';
import { Muted } from '../../parts/muted.tsx';
import { ActButton } from '../../parts/act-button.tsx';

const route = getRouteApi('/p/$project/emails');

const HINTS = [
  'state:sent,failed,unknown,deferred',
  'outcome:opened,clicked,replied,bounced,complained,unsubscribed',
  'rule:"Trial *" · template:welcome',
  'user:42 · address:*@example.org',
  'domain:mail.example.org · provider:google · reason:rejected',
  'ended:>2026-01-01 · resent:no',
];

/** Common filters. */
const VIEWS = [
  { value: 'all', label: 'All emails', filter: undefined },
  { value: 'trouble', label: 'Failed or unknown', filter: 'state:failed,unknown' },
  { value: 'put-off', label: 'Deferred', filter: 'state:deferred' },
  { value: 'back', label: 'Bounced', filter: 'outcome:bounced' },
  { value: 'unhappy', label: 'Complained or unsubscribed', filter: 'outcome:complained,unsubscribed' },
  { value: 'answered', label: 'Replied', filter: 'outcome:replied' },
];

export function EmailsScreen(): ReactNode {
  const { filter, message } = route.useSearch();
  const navigate = route.useNavigate();
  const project = useProject();
  const list = useApiInfinite('GET /projects/:project/emails', { query: { filter } }, { keep: true });
  const refresh = useRefresh();
  useFeed(
    ({ type }) => type === 'email' || type === 'outcome',
    () => void refresh('GET /projects/:project/emails'),
  );
  const setFilter = (next: string | undefined): void =>
    void navigate({ search: (was) => ({ ...was, filter: next, message: undefined }), replace: true });
  return (
    <Page title="Sent emails" actions={<Export filter={filter} />} fill>
      <Group gap="xs" mb="sm" wrap="wrap">
        <FilterBox
          value={filter}
          onChange={setFilter}
          fault={list.error}
          hints={HINTS}
          label="Filter emails"
        />
        <Select
          aria-label="View"
          w={{ base: '100%', sm: 230 }}
          allowDeselect={false}
          data={VIEWS.map(({ value, label }) => ({ value, label }))}
          value={VIEWS.find((view) => view.filter === filter)?.value ?? null}
          placeholder="Custom filter"
          onChange={(value) => setFilter(VIEWS.find((view) => view.value === value)?.filter)}
        />
      </Group>
      <DataTable
        fill
        label="Emails"
        columns={COLUMNS}
        list={list}
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
    cell: ({ claimed_at: at, ended_at: ended }) => <When at={ended ?? at} />,
  },
];

function Export({ filter }: { filter: string | undefined }): ReactNode {
  const project = useProject();
  if (!useMay('admin')) return null;
  const href = apiUrl('GET /projects/:project/emails/export', {
    params: { project: project.id },
    query: { filter },
  });
  return <DownloadButton href={href}>CSV</DownloadButton>;
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
