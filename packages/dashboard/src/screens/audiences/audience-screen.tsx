import { Button } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { AudienceDetails } from '@beckon/contract/dashboard';
import { useApi, useMay } from '../../api/index.ts';
import { later, Loaded, Page } from '../../parts/index.ts';
import { Built } from './built.tsx';
import { DeleteDialog } from './delete-dialog.tsx';
import { Members } from './members.tsx';
import { Overview } from './overview.tsx';
import { TabPages } from '../../parts/tab-pages.tsx';

const Editor = later(() => import('./editor.tsx'), 'Editor');
const TestUser = later(() => import('./test-user.tsx'), 'TestUser');

const route = getRouteApi('/p/$project/audiences/$audience');
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
  return (
    <TabPages
      value={tab}
      onChange={(next) =>
        void navigate({ search: (was) => ({ ...was, tab: next, filter: undefined }), replace: true })
      }
      pages={[
        { value: 'overview', label: 'Overview', content: <Overview audience={audience} /> },
        { value: 'definition', label: 'Definition', content: <Editor audience={audience} /> },
        { value: 'members', label: 'Members', content: <Members audience={audience.id} /> },
        {
          value: 'test',
          label: 'Test a user',
          content: (
            <TestUser
              audience={audience.id}
              user={user}
              onUser={(next) => void navigate({ search: (was) => ({ ...was, user: next }), replace: true })}
            />
          ),
        },
      ]}
    />
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
