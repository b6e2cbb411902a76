import { Type } from 'typebox';
import { EXTERNAL_USER_ID_MAX_CHARS } from '@beckon/contract';
import type { UserListed } from '@beckon/contract/dashboard';
import { iso } from '../../platform/time/clock.ts';
import { plainCell } from '../../platform/text/csv.ts';
import type { ListedPerson } from './list-filtered.ts';
import { readPeopleFilter } from './user-filter.ts';
import { exportUsers, listUsers } from './list-users.ts';
import { suppressPeople } from './suppress-users.ts';
import { PAGE, readPage, toPage, type DashboardRoute, routesFor, sendPieces } from '../workspace/index.ts';

const { route } = routesFor();

const FILTER = Type.Optional(Type.String({ maxLength: 1_000 }));
/** A selection is a page of the table, or part of it. */
const SUPPRESSED_AT_ONCE_MAX = 1_000;

export const personRoutes: DashboardRoute[] = [
  route('GET /projects/:project/users', {
    needs: 'viewer',
    query: Type.Object({ cursor: PAGE.cursor, limit: PAGE.limit, filter: FILTER }),
    async handle({ db }, { projectId, query }) {
      const filter = readPeopleFilter(query.filter ?? '');
      const page = readPage(query, 1);
      const { rowsMax, most } = page;
      const after = page.after?.[0] ?? null;
      const { rows, total } = await listUsers(db, { projectId, filter, after, rowsMax, most });
      return toPage(rows, page, { show: toListed, placeOf: ({ userId }) => [userId], total });
    },
  }),
  route('GET /projects/:project/users.csv', {
    needs: 'admin',
    isHeavy: true,
    turn: 'statement',
    audit: 'users.export',
    query: Type.Object({ filter: FILTER }),
    handle({ db }, { projectId, query, reply }) {
      const filter = readPeopleFilter(query.filter ?? '');
      const pieces = exportUsers(db, { projectId, filter, cell: plainCell });
      return sendPieces(reply, { name: 'users.csv', type: 'text/csv; charset=utf-8' }, pieces);
    },
  }),
  route('POST /projects/:project/users/suppress', {
    needs: 'admin',
    audit: 'user.suppress',
    body: Type.Object({
      users: Type.Array(Type.String({ minLength: 1, maxLength: EXTERNAL_USER_ID_MAX_CHARS }), {
        minItems: 1,
        maxItems: SUPPRESSED_AT_ONCE_MAX,
      }),
    }),
    async handle({ db }, { projectId, body, actor, note }) {
      const { notFound, ...done } = await suppressPeople(db, { projectId, users: body.users, actor });
      // Without the ids of users: the audit log outlives users who are erased.
      note({ subject: `${body.users.length} users`, after: done });
      return { data: { ...done, not_found: notFound.length } };
    },
  }),
];

function toListed({ userId, firstSeenAt, lastSeenAt, isSuppressed, ...known }: ListedPerson): UserListed {
  return {
    external_user_id: userId,
    ...known,
    first_seen_at: iso(firstSeenAt),
    last_seen_at: iso(lastSeenAt),
    triggers_suppressed: isSuppressed,
  };
}
