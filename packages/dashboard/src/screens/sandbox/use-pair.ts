import type { ProjectListed } from '@beckon/contract/dashboard';
import { useApi, useCall, useChange, useProject, useRefresh } from '../../api/index.ts';
import { notify } from '../../parts/index.ts';

/** A project and its sandbox, from either of them. `null`: it does not exist, or the member cannot open it. */
export type Pair = { production: ProjectListed | null; sandbox: ProjectListed | null };

export function usePair(): Pair {
  const project = useProject();
  const projects = useApi('GET /projects', {}).data?.data ?? [];
  if (!project.livemode)
    return { production: projects.find(({ id }) => id === project.sandbox_of) ?? null, sandbox: project };
  return { production: project, sandbox: projects.find((other) => other.sandbox_of === project.id) ?? null };
}

/** Creates the sandbox of this project, or opens it again. `onReady` gets its id once the list of projects contains it. */
export function useCreateSandbox(onReady: (id: number) => void) {
  const { id } = useProject();
  const call = useCall();
  const refresh = useRefresh();
  return useChange('PATCH /projects/:project/settings', {
    refreshes: ['GET /projects/:project/keys', 'GET /projects/:project/settings'],
    async onDone() {
      const { data } = await call('GET /projects', {});
      await refresh('GET /projects');
      notify('Sandbox created');
      const sandbox = data.find(({ sandbox_of: production }) => production === id);
      if (sandbox) onReady(sandbox.id);
    },
  });
}
