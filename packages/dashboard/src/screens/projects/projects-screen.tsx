import { Button, Group } from '@mantine/core';
import { allows, type ProjectListed, type SessionState } from '@beckon/contract/dashboard';
import { Link } from '@tanstack/react-router';
import {
  CirclePause,
  CirclePlay,
  FlaskConical,
  FolderPlus,
  OctagonX,
  Radio,
  ShieldAlert,
} from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useApi, useSession } from '../../api/index.ts';
import { DataTable, Empty, later, listOf, Mark, Page } from '../../parts/index.ts';

const NewProject = later(() => import('./new-project.tsx'), 'NewProject', null);

/** All projects of the member, and a button to create one. */
export function ProjectsScreen(): ReactNode {
  const projects = useApi('GET /projects', {});
  const session = useSession();
  const [isMaking, setMaking] = useState(false);
  const organizations = (session.data?.data.organizations ?? []).filter(
    ({ role, must_set_up_two_factor: isClosed }) => allows(role, 'admin') && !isClosed,
  );
  const mayMake = organizations.length > 0;
  const make = (
    <Button leftSection={<FolderPlus size={16} aria-hidden="true" />} onClick={() => setMaking(true)}>
      New project
    </Button>
  );
  return (
    <Page title="Projects" actions={mayMake && make}>
      <DataTable
        label="Projects"
        columns={[
          { id: 'name', title: 'Name', width: '2fr', wraps: true, cell: ({ name }) => name },
          {
            id: 'state',
            title: 'State',
            width: '2fr',
            wraps: true,
            cell: (project) => <State project={project} />,
          },
          { id: 'zone', title: 'Time zone', width: '160px', cell: ({ time_zone: zone }) => zone },
          { id: 'role', title: 'Your role', width: '96px', cell: ({ role }) => role },
        ]}
        list={listOf(projects.data?.data ?? [], projects)}
        rowKey={({ id }) => String(id)}
        link={({ id }) => ({ to: '/p/$project/home', params: { project: String(id) } })}
        empty={<NoProjects session={session.data?.data} make={mayMake ? make : undefined} />}
      />
      {isMaking && <NewProject organizations={organizations} onClose={() => setMaking(false)} />}
    </Page>
  );
}

function State({ project: { livemode, paused, suspended } }: { project: ProjectListed }): ReactNode {
  return (
    <Group gap={6}>
      {livemode ? (
        <Mark icon={Radio} tone="info" label="Production" />
      ) : (
        <Mark icon={FlaskConical} tone="quiet" label="Sandbox" />
      )}
      {suspended && <Mark icon={OctagonX} tone="bad" label="Suspended" />}
      {!suspended && paused && <Mark icon={CirclePause} tone="warn" label="Sending paused" />}
      {!suspended && !paused && <Mark icon={CirclePlay} tone="good" label="Sending" />}
    </Group>
  );
}

type NoProjectsProps = { session: SessionState | undefined; make: ReactNode };

/** No projects, either because none exist or because an organization requires a second factor first. */
function NoProjects({ session, make }: NoProjectsProps): ReactNode {
  const closed = session?.organizations.find(({ must_set_up_two_factor: must }) => must);
  if (closed)
    return (
      <Empty
        icon={ShieldAlert}
        title={`${closed.name} requires a second factor`}
        action={
          <Button component={Link} to="/profile">
            Set up authenticator app
          </Button>
        }
      >
        You can open its projects as soon as your account has an authenticator app.
      </Empty>
    );
  return (
    <Empty icon={FolderPlus} title="No projects yet" action={make}>
      {make === undefined
        ? 'Ask an admin of your organization to create a project.'
        : 'A project contains the users, events, rules and emails of one product.'}
    </Empty>
  );
}
