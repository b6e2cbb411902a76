import { countForBadges, showHome } from './show-home.ts';
import { routesFor, type KitDeps } from '../workspace/index.ts';
import type { SendServices } from '../delivery/index.ts';

type Deps = KitDeps & { sendServices: SendServices };
const { route } = routesFor<Deps>();

export const homeRoutes = [
  route('GET /projects/:project/counts', {
    needs: 'viewer',
    handle: async ({ db }, { projectId }) => ({ data: await countForBadges(db, projectId) }),
  }),
  route('GET /projects/:project/home', {
    needs: 'viewer',
    handle: async ({ db, sendServices }, { projectId }) => ({
      data: await showHome(db, { projectId, sendServices }),
    }),
  }),
];
