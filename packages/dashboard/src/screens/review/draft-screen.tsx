import { Alert, Group, Tabs, Text } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { DraftWhole } from '@beckon/contract/dashboard';
import { type ReactNode, useState } from 'react';
import { useApi, useMay, useProject } from '../../api/index.ts';
import { later, Lines, Loaded, Page } from '../../parts/index.ts';
import { ContextPane } from './context-pane.tsx';
import { Differences } from './differences.tsx';
import { DraftActs, type Opened, useDraftActs } from './draft-acts.tsx';
import { History } from './history.tsx';
import { EmailHead } from './email-head.tsx';
import { EmailView, type Pane } from './email-view.tsx';
import { Stranded } from './stranded.tsx';
import { Unsaved } from './unsaved.tsx';
import type { Seen } from './use-acts.ts';
import { useFollowed } from './use-followed.ts';
import classes from './review.module.css';

const EmailEditor = later(() => import('./email-editor.tsx'), 'EmailEditor');

const route = getRouteApi('/p/$project/drafts/$draft');

/** One draft on its own page, in any state. */
export function DraftScreen(): ReactNode {
  const { draft: id } = route.useParams();
  const draft = useApi('GET /projects/:project/drafts/:draft', { params: { draft: id } });
  useFollowed(id);
  return (
    <Page title={draft.data?.data.subject ?? 'Draft'}>
      <Loaded query={draft} skeleton={<Lines count={12} />}>
        {({ data }) => <Whole draft={data} />}
      </Loaded>
    </Page>
  );
}

function Whole({ draft }: { draft: DraftWhole }): ReactNode {
  const { tab = 'preview' } = route.useSearch();
  const navigate = route.useNavigate();
  const acts = useDraftActs();
  const [opened, open] = useState<Opened>(null);
  const mayEdit = useMay('editor') && draft.ended_at === null && draft.state !== 'sending';
  const saved = (row: Seen, andApprove: boolean): void => {
    to('preview');
    if (!andApprove) return;
    if (draft.rule_holds === false) open('anyway');
    else acts.approve(row);
  };
  const to = (next: string | null): void =>
    void navigate({ search: (was) => ({ ...was, tab: TABS.find((name) => name === next) }), replace: true });
  return (
    <>
      <EmailHead draft={draft} level={1} />
      <Again draft={draft} />
      <DraftActs
        {...{ draft, acts, opened, open }}
        isEditing={mayEdit && tab === 'edit'}
        onEdit={() => to('edit')}
      />
      {!mayEdit && <Stranded key={draft.id} draft={draft} />}
      <Tabs value={tab} onChange={to} keepMounted={false}>
        <Tabs.List mb="md">
          <Tabs.Tab value="preview">Preview</Tabs.Tab>
          <Tabs.Tab value="edit" disabled={!mayEdit}>
            Edit
          </Tabs.Tab>
          <Tabs.Tab value="diff">Diff</Tabs.Tab>
          <Tabs.Tab value="why">Why</Tabs.Tab>
          <Tabs.Tab value="history">History</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="preview">
          {mayEdit && <Unsaved key={draft.id} draft={draft.id} onGoOn={() => to('edit')} />}
          <Preview draft={draft} />
        </Tabs.Panel>
        <Tabs.Panel value="edit">
          {mayEdit && (
            <EmailEditor key={draft.id} draft={draft} onClose={() => to('preview')} onSaved={saved} />
          )}
        </Tabs.Panel>
        <Tabs.Panel value="diff">
          <Differences draft={draft} />
        </Tabs.Panel>
        <Tabs.Panel value="why">
          <div className={classes.alone}>
            <ContextPane draft={draft.id} />
          </div>
        </Tabs.Panel>
        <Tabs.Panel value="history">
          <History draft={draft} />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}

const TABS = ['preview', 'edit', 'diff', 'why', 'history'] as const;

function Preview({ draft }: { draft: DraftWhole }): ReactNode {
  const { pane = 'desktop' } = route.useSearch();
  const navigate = route.useNavigate();
  const setPane = (next: Pane): void =>
    void navigate({
      search: (was) => ({ ...was, pane: next === 'desktop' ? undefined : next }),
      replace: true,
    });
  return <EmailView draft={draft} pane={pane} onPane={setPane} />;
}

function Again({ draft: { resend_of: of } }: { draft: DraftWhole }): ReactNode {
  const project = useProject();
  if (of === null) return null;
  return (
    <Alert color="gray" variant="outline" p="xs">
      <Group gap={6}>
        <Text size="sm">This email is a resend of</Text>
        <Link
          className={classes.link}
          to="/p/$project/drafts/$draft"
          params={{ project: String(project.id), draft: of }}
        >
          the first email
        </Link>
      </Group>
    </Alert>
  );
}
