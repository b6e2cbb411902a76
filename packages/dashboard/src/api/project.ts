import { allows, type ProjectListed, type Role } from '@beckon/contract/dashboard';
import { useProjectIfAny } from './provider.tsx';

/** The project of this page. */
export function useProject(): ProjectListed {
  const project = useProjectIfAny();
  if (!project) throw new Error('this page has no project');
  return project;
}

/** True if the member has at least this role. Other actions are hidden, or disabled with the reason. */
export function useMay(needs: Role): boolean {
  const project = useProjectIfAny();
  return project !== null && allows(project.role, needs);
}
