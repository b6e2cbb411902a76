import type { DecidedDraft } from '@beckon/contract/dashboard';
import { iso } from '../../platform/time/clock.ts';
import { getSettings, readPage, routesFor, timeAndId, toPage } from '../workspace/index.ts';
import { type Decided, listDecided, readDecidedFilter, tallyDecided } from './list-decided.ts';
import { membersOfTally } from './review-tally.ts';

const { route } = routesFor();

export const decidedRoutes = [
  route('GET /projects/:project/review/decided', {
    needs: 'viewer',
    async handle({ db, access }, { projectId, query }) {
      const page = readPage(query, 2);
      const { decided, total } = await listDecided(db, {
        projectId,
        filter: readDecidedFilter(query.filter),
        after: page.after === null ? null : timeAndId(page.after),
        offset: page.offset,
        limit: page.rowsMax,
        most: page.most,
      });
      const names = await access.namesOf([...new Set(decided.map(({ actor }) => actor))]);
      return toPage(decided, page, {
        show: (row) => toDecidedDraft(row, names),
        cursorOf: ({ at, id }) => [String(at), id],
        total,
      });
    },
  }),
  route('GET /projects/:project/review/today', {
    needs: 'viewer',
    async handle({ db, access }, { projectId, actor }) {
      const { timeZone } = (await getSettings(db, projectId)).settings;
      const here = Temporal.Instant.fromEpochMilliseconds(db.clock.now()).toZonedDateTimeISO(timeZone);
      const since = here.startOfDay().epochMilliseconds;
      const { rows, isAtLeast } = await tallyDecided(db, { projectId, since });
      const names = await access.namesOf([...new Set(rows.map((row) => row.actor))]);
      return {
        data: {
          day: here.toPlainDate().toString(),
          time_zone: timeZone,
          members: membersOfTally(rows, { actor, names }),
          at_least: isAtLeast,
        },
      };
    },
  }),
];

function toDecidedDraft(
  { id, at, action, actor, reason, until, draft, rule, user }: Decided,
  names: ReadonlyMap<string, string>,
): DecidedDraft {
  return {
    id,
    at: iso(at),
    action,
    by: names.get(actor) ?? actor,
    reason,
    until,
    draft,
    rule,
    user: { external_user_id: user.id, name: user.name, email: user.email },
  };
}
