import { listPlanned, showSchedule } from './show-schedule.ts';
import { readMoment, routesFor, type KitDeps } from '../workspace/index.ts';
import type { SendServices } from '../delivery/index.ts';

type Deps = KitDeps & { sendServices: SendServices };
const { route } = routesFor<Deps>();

const PAGE = 50;

export const scheduleRoutes = [
  route('GET /projects/:project/schedule', {
    needs: 'viewer',
    isHeavy: true,
    handle: async ({ db, sendServices }, { projectId }) => ({
      data: await showSchedule({ db, sendServices }, projectId),
    }),
  }),
  route('GET /projects/:project/schedule/drafts', {
    needs: 'viewer',
    isHeavy: true,
    async handle({ db, sendServices }, { projectId, query }) {
      const { result = 'sends', limit = PAGE } = query;
      // The plan is computed for each request. A position in it is a number, and valid as long as the plan stays the same.
      const offset = query.cursor === undefined ? (query.offset ?? 0) : Number(query.cursor);
      const { rows, total } = await listPlanned(
        { db, sendServices },
        {
          projectId,
          result,
          from: query.from === undefined ? null : readMoment(query.from, 'from'),
          to: query.to === undefined ? null : readMoment(query.to, 'to'),
          offset,
          limit,
        },
      );
      const next = offset + rows.length;
      const cursor = next < total ? String(next) : null;
      return { data: rows, meta: { pagination: { total, offset, limit }, cursor } };
    },
  }),
];
