import { Button, Tabs } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { AudienceDetails } from '@beckon/contract/dashboard';
import { useApi, useMay } from '../../api/index.ts';
import { later, Loaded, Page } from '../../parts/index.ts';
import { Built } from './built.tsx';
import { DeleteDialog } from './delete-dialog.tsx';
import { Members } from './members.tsx';
import { Overview } from './overview.tsx';

const Editor = later(() => import('./editor.tsx'), 'Editor');
const TestUser = later(() => import('./test-user.tsx'), 'TestUser');

const route = getRouteApi('/p/$project/audiences/$audience');
const TABS = ['overview', 'definition', 'members', 'test'] as const;
const BUILDING_EVERY_MS = 2_000;

export function AudienceScreen(): ReactNode {
  const { audience } = route.useParams();
  if (audience === 'new')
    return (
      <Page title="New audience">
        <Editor audience={null} />
      </Page>
    );
  return <ExistingAudience key={audience} reference={audience} />;
}

function ExistingAudience({ reference }: { reference: string }): ReactNode {
  const args = { params: { audience: reference } };
  const query = useApi('GET /projects/:project/audiences/:audience', args);
  const isBuilding = query.data !== undefined && query.data.data.state !== 'ready';
  useApi('GET /projects/:project/audiences/:audience', args, {
    enabled: isBuilding,
    everyMs: BUILDING_EVERY_MS,
  });
  const audience = query.data?.data;
  return (
    <Page
      title={audience?.name ?? 'Audience'}
      beside={audience && <Built audience={audience} />}
      actions={audience && <Actions audience={audience} />}
    >
      <Loaded query={query}>{({ data }) => <Parts audience={data} />}</Loaded>
    </Page>
  );
}

function Parts({ audience }: { audience: AudienceDetails }): ReactNode {
  const { tab, user } = route.useSearch();
  const navigate = route.useNavigate();
  const currentTab = TABS.find((name) => name === tab) ?? 'overview';
  return (
    <Tabs
      value={currentTab}
      keepMounted={false}
      onChange={(next) =>
        void navigate({ search: (was) => ({ ...was, tab: next ?? undefined }), replace: true })
      }
    >
      <Tabs.List mb="md">
        <Tabs.Tab value="overview">Overview</Tabs.Tab>
        <Tabs.Tab value="definition">Definition</Tabs.Tab>
        <Tabs.Tab value="members">Members</Tabs.Tab>
        <Tabs.Tab value="test">Test a user</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="overview">
        <Overview audience={audience} />
      </Tabs.Panel>
      <Tabs.Panel value="definition">
        <Editor audience={audience} />
      </Tabs.Panel>
      <Tabs.Panel value="members">
        <Members audience={audience.id} />
      </Tabs.Panel>
      <Tabs.Panel value="test">
        <TestUser
          audience={audience.id}
          user={user}
          onUser={(next) => void navigate({ search: (was) => ({ ...was, user: next }), replace: true })}
        />
      </Tabs.Panel>
    </Tabs>
  );
}

function Actions({ audience }: { audience: AudienceDetails }): ReactNode {
  const mayEdit = useMay('editor');
  const [isDeleting, setDeleting] = useState(false);
  if (!mayEdit) return null;
  return (
    <>
      <Button variant="default" c="var(--mantine-color-error)" onClick={() => setDeleting(true)}>
        Delete…
      </Button>
      <DeleteDialog opened={isDeleting} audience={audience} onClose={() => setDeleting(false)} />
    </>
  );
}
