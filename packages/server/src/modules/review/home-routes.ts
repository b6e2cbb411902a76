import { countDraftDays, countEventDays, countOutcomeDays, countSentDays } from './days.ts';
import { countForBadges, showHome } from './show-home.ts';
import { getSettings, routesFor, type KitDeps } from '../workspace/index.ts';
import type { SendServices } from '../delivery/index.ts';

type Deps = KitDeps & { sendServices: SendServices };
const { route } = routesFor<Deps>();

const CHART_DAYS = 30;

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
  route('GET /projects/:project/home/charts', {
    needs: 'viewer',
    isHeavy: true,
    async handle({ db }, { projectId }) {
      const { timeZone: zone } = (await getSettings(db, projectId)).settings;
      const query = { projectId, now: db.clock.now(), days: CHART_DAYS, zone };
      const [events, drafts, sent, outcomes] = await Promise.all([
        countEventDays(db, query),
        countDraftDays(db, query),
        countSentDays(db, query),
        countOutcomeDays(db, query),
      ]);
      return { data: { events, drafts, sent, outcomes } };
    },
  }),
];
