import { getRouteApi } from '@tanstack/react-router';
import type { ReplyListed } from '@beckon/contract/dashboard';
import { MessageSquareReply } from 'lucide-react';
import type { ReactNode } from 'react';
import { apiUrl, useApiInfinite, useFeed, useMay, useProject, useRefresh } from '../../api/index.ts';
import { type Column, DataTable, Empty, Page, SidePanel, When } from '../../parts/index.ts';
import { ListBar } from '../../parts/list-bar.tsx';
import { useListFilter } from '../../parts/list-filter.ts';
import { useListLook } from '../../parts/list-look.ts';
import { TwoLines } from '../../parts/two-lines.tsx';
import { LinkButton } from '../../parts/link-button.tsx';
import { ForwardMark, SignMark } from './marks.tsx';
import { Thread } from './thread.tsx';

const route = getRouteApi('/p/$project/replies');

export function RepliesScreen(): ReactNode {
  const { reply } = route.useSearch();
  const { filter, onFilter } = useListFilter();
  const navigate = route.useNavigate();
  const list = useApiInfinite('GET /projects/:project/replies', { query: { filter } }, { keep: true });
  const refresh = useRefresh();
  useFeed(
    ({ type }) => type === 'outcome',
    () => void refresh('GET /projects/:project/replies'),
  );
  const open = (id: string | undefined): void =>
    void navigate({ search: (was) => ({ ...was, reply: id }), replace: true });
  const { id: project } = useProject();
  const mayExport = useMay('admin');
  const csv = apiUrl('GET /projects/:project/replies.csv', { params: { project }, query: { filter } });
  const { look, setLook } = useListLook('replies');
  return (
    <Page title="Replies" fill>
      <ListBar
        list="replies"
        label="Filter replies"
        filter={filter}
        onFilter={onFilter}
        fault={list.error}
        display={{ look, setLook, columns: COLUMNS }}
        csv={mayExport ? csv : undefined}
      />
      <DataTable
        fill
        label="Replies"
        columns={COLUMNS}
        list={list}
        rowKey={({ id }) => id}
        onOpen={open}
        look={look}
        empty={<None isFiltered={filter !== undefined} />}
        {...(reply === undefined ? {} : { current: reply })}
      />
      <SidePanel opened={reply !== undefined} onClose={() => open(undefined)} title="Reply" size="xl">
        {reply !== undefined && <Thread id={reply} />}
      </SidePanel>
    </Page>
  );
}

const COLUMNS: Column<ReplyListed>[] = [
  {
    id: 'from',
    title: 'From',
    width: '2fr',
    cell: ({ from, from_name: name }) => (
      <TwoLines first={name === '' ? from : name} second={name === '' ? undefined : from} />
    ),
  },
  {
    id: 'text',
    title: 'Reply',
    width: '3fr',
    cell: ({ subject, text }) => <TwoLines first={text.trim() === '' ? '(empty)' : text} second={subject} />,
  },
  { id: 'sign', title: 'Sender', width: '160px', cell: (reply) => <SignMark reply={reply} /> },
  { id: 'forward', title: 'Forwarded', width: '130px', cell: (reply) => <ForwardMark reply={reply} /> },
  { id: 'at', title: 'Received', width: '130px', cell: ({ received_at: at }) => <When at={at} /> },
];

function None({ isFiltered }: { isFiltered: boolean }): ReactNode {
  if (isFiltered) return <Empty icon={MessageSquareReply} title="No replies match this filter" />;
  return (
    <Empty
      icon={MessageSquareReply}
      title="No replies yet"
      action={<LinkButton to="/p/$project/settings/sender">Set a forwarding address</LinkButton>}
    >
      Replies of users appear here when a forwarding address is set in Settings → Project → Sender. With a
      relay, MAIL_DOMAIN is required too.
    </Empty>
  );
}
