import { allows } from '@beckon/contract/dashboard';
import { SEARCH_TEXT_MIN_CHARS as TEXT_MIN_CHARS } from '@beckon/contract/dashboard/endpoints';
import { Fault } from '../../platform/fault.ts';
import { type DashboardRoute, routesFor, wholeList } from '../workspace/index.ts';
import { listFilterValues } from './filter-values.ts';
import { search } from './search.ts';

const { route } = routesFor();

export const searchRoutes: DashboardRoute[] = [
  route('GET /projects/:project/search', {
    needs: 'viewer',
    async handle({ db }, { projectId, query, role }) {
      const mayReadWebhooks = allows(role, 'admin');
      return { data: await search(db, { projectId, text: readText(query.text), mayReadWebhooks }) };
    },
  }),
  route('GET /projects/:project/filter-values', {
    needs: 'viewer',
    async handle({ db }, { projectId, query: { of, text = '' } }) {
      return wholeList(await listFilterValues(db, { projectId, of, text: text.trim() }));
    },
  }),
];

function readText(typed: string): string {
  const text = typed.trim();
  // PostgreSQL stores neither NUL nor unpaired surrogates, so they could match nothing.
  const isText = !text.includes('\0') && text.isWellFormed();
  if (isText && text.length >= TEXT_MIN_CHARS) return text;
  const message = `text must be at least ${TEXT_MIN_CHARS} characters of Unicode text without NUL`;
  throw new Fault('validation_failed', { details: [{ message, field: 'text' }] });
}
