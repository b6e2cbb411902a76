import type { DecidedDraft, ListResponse } from '@beckon/contract/dashboard';
import { iso } from '../../platform/time/clock.ts';
import {
  type CsvColumns,
  getSettings,
  type KitDeps,
  type ListQuery,
  readPage,
  routesFor,
  sendCsv,
  timeAndId,
  toPage,
  zoneOfProject,
} from '../workspace/index.ts';
import { type Decided, listDecided, readDecidedFilter, tallyDecided } from './list-decided.ts';
import { membersOfTally } from './review-tally.ts';

const { route } = routesFor();

export const decidedRoutes = [
  route('GET /projects/:project/review/decided', {
    needs: 'viewer',
    handle: (deps, { projectId, query }) => decidedPage(deps, { projectId, ...query }),
  }),
  route('GET /projects/:project/review/decided.csv', {
    needs: 'admin',
    isHeavy: true,
    slot: 'statement',
    audit: 'drafts.export_decided',
    handle: (deps, { projectId, query, reply }) =>
      sendCsv(reply, {
        name: 'decided-drafts.csv',
        columns: CSV_COLUMNS,
        load: (page) => decidedPage(deps, { projectId, ...query, ...page }),
      }),
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

type DecidedQuery = ListQuery & { projectId: number; filter?: string };

async function decidedPage(
  { db, access }: Pick<KitDeps, 'db' | 'access'>,
  { projectId, filter, ...query }: DecidedQuery,
): Promise<ListResponse<DecidedDraft>> {
  const page = readPage(query, 2);
  const { decided, total } = await listDecided(db, {
    projectId,
    filter: readDecidedFilter(filter, await zoneOfProject(db, projectId)),
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
}

const CSV_COLUMNS: CsvColumns<DecidedDraft> = {
  at: ({ at }) => at,
  action: ({ action }) => action,
  by: ({ by }) => by,
  reason: ({ reason }) => reason,
  until: ({ until }) => until,
  draft_id: ({ draft }) => draft.id,
  subject: ({ draft }) => draft.subject,
  state: ({ draft }) => draft.state,
  rule: ({ rule }) => rule.name,
  external_user_id: ({ user }) => user.external_user_id,
  name: ({ user }) => user.name,
  email: ({ user }) => user.email,
};

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
