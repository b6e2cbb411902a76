import { createRoute, redirect } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useApi } from '../api/index.ts';
import { Lines } from '../parts/index.ts';
import { lastProject } from './last-project.ts';
import { Redirect } from '../parts/redirect.tsx';
import { outsideRoute } from './roots.tsx';

/** `/` opens the member's last or only project, or else the list of projects. */
export const startRoute = createRoute({
  getParentRoute: () => outsideRoute,
  path: '/',
  beforeLoad: () => {
    const project = lastProject();
    if (project !== null) throw redirect({ to: '/p/$project/home', params: { project }, replace: true });
  },
  component: Start,
});

function Start(): ReactNode {
  const projects = useApi('GET /projects', {});
  if (projects.isPending) return <Lines />;
  const [first, ...others] = projects.data?.data ?? [];
  if (first === undefined || others.length > 0) return <Redirect to="/projects" />;
  return <Redirect to="/p/$project/home" params={{ project: String(first.id) }} />;
}
