import { Menu } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import type { ProjectListed } from '@beckon/contract/dashboard';
import { Check, FlaskConical, FolderPlus } from 'lucide-react';
import type { ReactNode } from 'react';
import { useApi, useProject } from '../api/index.ts';
import type { MenuButton } from '../parts/later-menu.tsx';
import { LoadedMenu } from '../parts/loaded-menu.tsx';

/** The projects of the member. */
export function ProjectMenu({ button }: MenuButton): ReactNode {
  const project = useProject();
  const projects = useApi('GET /projects', {});
  const navigate = useNavigate();
  return (
    <LoadedMenu button={button} position="bottom-start" width={260} maxHeight="400px">
      <Menu.Label>Projects</Menu.Label>
      {withSandboxes(projects.data?.data ?? []).map(({ id, name, livemode }) => (
        <Menu.Item
          key={id}
          leftSection={
            <Check size={14} aria-hidden="true" visibility={id === project.id ? 'visible' : 'hidden'} />
          }
          rightSection={livemode ? undefined : <FlaskConical size={14} aria-label="Sandbox" />}
          onClick={() => void navigate({ to: '/p/$project/home', params: { project: String(id) } })}
        >
          {name}
        </Menu.Item>
      ))}
      <Menu.Divider />
      <Menu.Item
        leftSection={<FolderPlus size={14} aria-hidden="true" />}
        onClick={() => void navigate({ to: '/projects' })}
      >
        All projects
      </Menu.Item>
    </LoadedMenu>
  );
}

/** Lists each sandbox after its project. */
function withSandboxes(projects: ProjectListed[]): ProjectListed[] {
  const of = Map.groupBy(projects, ({ sandbox_of: live }) => live);
  const projectIds = new Set(projects.map(({ id }) => id));
  return projects
    .filter(({ sandbox_of: live }) => live === null || !projectIds.has(live))
    .flatMap((project) => [project, ...(of.get(project.id) ?? [])]);
}
