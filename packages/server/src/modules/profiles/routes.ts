import type { UserListed } from '@beckon/contract/dashboard';
import { suppressIn } from '../outcomes/index.ts';
import { exportUsers, listUsers, positionOf, type UserPosition } from './list-users.ts';
import { readPeopleFilter } from './user-filter.ts';
import { takeSendLock } from '../sending/index.ts';
import { findPeople, isStorable } from '../users/index.ts';
import {
  badCursor,
  type DashboardRoute,
  readPage,
  routesFor,
  sendPieces,
  toPage,
  zoneOfProject,
} from '../workspace/index.ts';
import type { Database } from '../../platform/db/database.ts';
import { takeProjectLock } from '../../platform/locks/project-lock.ts';
import { plainCell } from '../../platform/text/csv.ts';

const { route } = routesFor();

export const personRoutes: DashboardRoute[] = [
  route('GET /projects/:project/users', {
    needs: 'viewer',
    async handle({ db }, { projectId, query }) {
      const { sort = 'user' } = query;
      const filter = readPeopleFilter(query.filter, await zoneOfProject(db, projectId));
      const page = readPage(query, 2);
      const { rowsMax, most } = page;
      const after = page.after && readPosition(page.after);
      const { rows, total } = await listUsers(db, { projectId, filter, sort, after, rowsMax, most });
      const cursorOf = (user: UserListed): string[] => {
        const { userId, firstSeenAt } = positionOf(user);
        return [String(firstSeenAt), userId];
      };
      return toPage(rows, page, { show: (user) => user, cursorOf, total });
    },
  }),
  route('GET /projects/:project/users.csv', {
    needs: 'admin',
    isHeavy: true,
    slot: 'statement',
    audit: 'users.export',
    async handle({ db }, { projectId, query, reply }) {
      const { sort = 'user' } = query;
      const filter = readPeopleFilter(query.filter, await zoneOfProject(db, projectId));
      const pieces = exportUsers(db, { projectId, filter, sort, cell: plainCell });
      return sendPieces(reply, { name: 'users.csv', type: 'text/csv; charset=utf-8' }, pieces);
    },
  }),
  route('POST /projects/:project/users/suppress', {
    needs: 'admin',
    audit: 'user.suppress',
    async handle({ db }, { projectId, body, actor, note }) {
      const { notFound, ...counts } = await suppressPeople(db, { projectId, users: body.users, actor });
      // Without the ids of users: the audit log outlives users who are erased.
      note({ subject: `${body.users.length} users`, after: counts });
      return { data: { ...counts, not_found: notFound.length } };
    },
  }),
];

function readPosition([at = '', userId = '']: string[]): UserPosition {
  if (!/^-?\d{1,15}$/.test(at) || !isStorable(userId)) throw badCursor();
  return { userId, firstSeenAt: Number(at) };
}

/** `notFound`: ids without a user. */
type SuppressedPeople = {
  added: number;
  already_suppressed: number;
  notFound: string[];
  drafts: number;
  runs: number;
};

/** Suppresses these users at any address, and ends their drafts and runs. */
function suppressPeople(
  db: Pick<Database, 'transaction' | 'clock'>,
  { projectId, users, actor }: { projectId: number; users: string[]; actor: string },
): Promise<SuppressedPeople> {
  return db.transaction(async (tx) => {
    await takeProjectLock(tx, projectId);
    await takeSendLock(tx, projectId);
    const now = db.clock.now();
    const userIds = [...new Set(users)];
    const people = await findPeople(
      tx,
      userIds.map((userId) => ({ projectId, userId })),
      { emails: false },
    );
    const found = new Set(people.map(({ userId }) => userId));
    const suppressions = [...found].map((value) => ({
      kind: 'user' as const,
      value,
      reason: 'manual' as const,
      until: null,
      createdAt: now,
      createdBy: actor,
    }));
    const { added, drafts, runs } = await suppressIn(tx, projectId, { suppressions, now, actor });
    const notFound = userIds.filter((userId) => !found.has(userId));
    return { added, already_suppressed: suppressions.length - added, notFound, drafts, runs };
  });
}
