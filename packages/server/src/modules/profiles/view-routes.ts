import type { SavedView } from '@beckon/contract/dashboard';
import { iso } from '../../platform/time/clock.ts';
import { readPeopleFilter } from './user-filter.ts';
import { type DashboardRoute, routesFor, type KitDeps } from '../workspace/index.ts';
import { deleteView, saveView } from './views/views.ts';
import { listViews, type View } from './views/store.ts';

type Deps = KitDeps;
const { route } = routesFor<Deps>();

export const viewRoutes: DashboardRoute<Deps>[] = [
  route('GET /projects/:project/views', {
    needs: 'viewer',
    async handle({ db, access }, { projectId, query }) {
      const data = await savedViews(access, await listViews(db, { projectId, screen: query.screen }));
      return {
        data,
        meta: { pagination: { total: data.length, offset: 0, limit: data.length }, cursor: null },
      };
    },
  }),
  route('POST /projects/:project/views', {
    needs: 'editor',
    audit: 'view.create',
    async handle({ db, newId, access }, { projectId, body, actor, note }) {
      readPeopleFilter(body.filter);
      const view = { ...body, projectId, id: newId(), createdAt: db.clock.now(), createdBy: actor };
      const saved = await db.transaction((tx) => saveView(tx, view));
      // A filter may name a user who is erased later; the id and the screen of the view are enough here.
      note({ subject: saved.id, after: { screen: saved.screen } });
      const [data] = await savedViews(access, [saved]);
      if (!data) throw new Error('a view that was just saved is not there');
      return { data };
    },
  }),
  route('DELETE /projects/:project/views/:view', {
    needs: 'editor',
    audit: 'view.delete',
    async handle({ db, access }, { projectId, params, note }) {
      const view = await deleteView(db, { projectId, id: params.view });
      note({ subject: view.id, before: { screen: view.screen } });
      const [data] = await savedViews(access, [view]);
      if (!data) throw new Error('a view that was just deleted cannot be shown');
      return { data };
    },
  }),
];

async function savedViews(access: Deps['access'], views: View[]): Promise<SavedView[]> {
  const names = await access.namesOf([...new Set(views.map(({ createdBy }) => createdBy))]);
  return views.map(({ id, screen, name, filter, createdBy, createdAt }) => ({
    id,
    screen,
    name,
    filter,
    created_by: names.get(createdBy) ?? createdBy,
    created_at: iso(createdAt),
  }));
}
