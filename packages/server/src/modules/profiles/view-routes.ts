import type { SavedView } from '@beckon/contract/dashboard';
import { iso } from '../../platform/time/clock.ts';
import { FILTER_KEYS } from '@beckon/contract/dashboard';
import { readFilter } from '../../platform/filter/parse.ts';
import { readPeopleFilter } from './user-filter.ts';
import { type DashboardRoute, routesFor, wholeList, type KitDeps } from '../workspace/index.ts';
import { deleteView, renameView, saveView } from './views/views.ts';
import { listViews } from './views/store.ts';

type Deps = KitDeps;
const { route } = routesFor<Deps>();

/** A filter that is saved is only checked, and a date is valid in every zone. */
const ANY_ZONE = 'UTC';

export const viewRoutes: DashboardRoute<Deps>[] = [
  route('GET /projects/:project/views', {
    needs: 'viewer',
    async handle({ db, access }, { projectId, query }) {
      const data = await savedViews(access, await listViews(db, { projectId, screen: query.screen }));
      return wholeList(data);
    },
  }),
  route('POST /projects/:project/views', {
    needs: 'editor',
    audit: 'view.create',
    async handle({ db, newId, access }, { projectId, body, actor, note }) {
      if (body.screen === 'users') readPeopleFilter(body.filter, ANY_ZONE);
      else readFilter(body.filter, FILTER_KEYS[body.screen], ANY_ZONE);
      const view = { ...body, id: newId(), created_at: iso(db.clock.now()), created_by: actor };
      const saved = await db.transaction((tx) => saveView(tx, projectId, view));
      // A filter may name a user who is erased later; the id and the screen of the view are enough here.
      note({ subject: saved.id, after: { screen: saved.screen } });
      const [data] = await savedViews(access, [saved]);
      if (!data) throw new Error('a view that was just saved is not there');
      return { data };
    },
  }),
  route('PATCH /projects/:project/views/:view', {
    needs: 'editor',
    audit: 'view.rename',
    async handle({ db, access }, { projectId, params, body, note }) {
      const renamed = await db.transaction((tx) => renameView(tx, { projectId, id: params.view }, body.name));
      note({ subject: renamed.id, after: { screen: renamed.screen } });
      const [data] = await savedViews(access, [renamed]);
      if (!data) throw new Error('a view that was just renamed is not there');
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

async function savedViews(access: Deps['access'], views: SavedView[]): Promise<SavedView[]> {
  const names = await access.namesOf([...new Set(views.map((view) => view.created_by))]);
  return views.map((view) => ({ ...view, created_by: names.get(view.created_by) ?? view.created_by }));
}
