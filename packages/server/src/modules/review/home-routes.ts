import { countForBadges, showHome } from './show-home.ts';
import { routesFor, type KitDeps } from '../workspace/index.ts';
import type { SendServices } from '../delivery/index.ts';
import type { RelayKinds } from '../../platform/relays/kinds.ts';

type Deps = KitDeps & { sendServices: SendServices; relayKinds: RelayKinds };
const { route } = routesFor<Deps>();

export const homeRoutes = [
  route('GET /projects/:project/counts', {
    needs: 'viewer',
    handle: async ({ db }, { projectId }) => ({ data: await countForBadges(db, projectId) }),
  }),
  route('GET /projects/:project/home', {
    needs: 'viewer',
    handle: async ({ db, sendServices, relayKinds }, { projectId }) => ({
      data: await showHome(db, { projectId, sendServices, relayKinds }),
    }),
  }),
];
