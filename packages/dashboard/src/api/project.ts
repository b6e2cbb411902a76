import { allows, type ProjectListed, type Role } from '@beckon/contract/dashboard';
import { useProjectIfAny } from './provider.tsx';

/** The project of this page. */
export function useProject(): ProjectListed {
  const project = useProjectIfAny();
  if (!project) throw new Error('this page stands in no project');
  return project;
}

/** May whoever looks at this do what needs this role? What they may not is not offered, or says why. */
export function useMay(needs: Role): boolean {
  const project = useProjectIfAny();
  return project !== null && allows(project.role, needs);
}
