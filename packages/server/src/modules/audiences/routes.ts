import {
  type AudienceDetails,
  type AudienceListed,
  type AudienceMemberListed,
  FILTER_KEYS,
  type ListResponse,
  type SortOf,
} from '@beckon/contract/dashboard';
import { matches, WORDS, wordsText } from '../../platform/filter/filter.ts';
import { readFilter } from '../../platform/filter/parse.ts';
import { audienceEditRoutes } from './edit-routes.ts';
import { listCatalogue } from './event-catalog.ts';
import { listAudiences, listGrowth, showAudience } from './show-audiences.ts';
import { findAudience } from './audience.ts';
import { searchMembers } from './search-members.ts';
import { findUses, type ListRuleNeeds } from './uses.ts';
import { isKnownTrait } from '../users/index.ts';
import {
  type CsvColumns,
  type DashboardRoute,
  type KitDeps,
  type ListQuery,
  pageOfAll,
  readPage,
  routesFor,
  sendCsv,
  toPage,
  zoneOfProject,
} from '../workspace/index.ts';
import type { Tx } from '../../platform/db/statements.ts';

type Deps = KitDeps & { listRuleNeeds: ListRuleNeeds };
const { route } = routesFor<Deps>();

export const audienceRoutes: DashboardRoute<Deps>[] = [
  route('GET /projects/:project/audiences', {
    needs: 'viewer',
    handle: (deps, { projectId, query }) => audiencePage(deps, { projectId, ...query }),
  }),
  route('GET /projects/:project/audiences.csv', {
    needs: 'viewer',
    isHeavy: true,
    slot: 'statement',
    handle: (deps, { projectId, query, reply }) =>
      sendCsv(reply, {
        name: 'audiences.csv',
        columns: CSV_COLUMNS,
        load: (page) => audiencePage(deps, { projectId, ...query, ...page }),
      }),
  }),
  route('GET /projects/:project/predicate-facts', {
    needs: 'viewer',
    async handle({ db }, { projectId }) {
      const traits = await listTraitNames(db, projectId);
      const events = await listCatalogue(db, { projectId, now: db.clock.now() });
      const audiences = await listAudiences(db, projectId);
      return {
        data: {
          traits,
          events: events.map(({ name, properties }) => ({
            name,
            properties: properties.map(({ property, types }) => ({
              property,
              types: types.map(({ type }) => type),
            })),
          })),
          audiences: audiences.map(({ id, name }) => ({ id, name })),
        },
      };
    },
  }),
  route('GET /projects/:project/audiences/:audience', {
    needs: 'viewer',
    handle: async ({ db, listRuleNeeds }, { projectId, params }) => ({
      data: await loadAudience({ db, listRuleNeeds }, projectId, params.audience),
    }),
  }),
  route('GET /projects/:project/audiences/:audience/members', {
    needs: 'viewer',
    handle: ({ db }, { projectId, params, query }) =>
      memberPage(db, { projectId, reference: params.audience, ...query }),
  }),
  route('GET /projects/:project/audiences/:audience/members.csv', {
    needs: 'admin',
    isHeavy: true,
    slot: 'statement',
    audit: 'audience.export_members',
    async handle({ db }, { projectId, params, query, reply, note }) {
      const { name } = await findAudience(db, { projectId, reference: params.audience });
      note({ subject: name });
      return sendCsv(reply, {
        name: 'members.csv',
        columns: MEMBER_CSV_COLUMNS,
        load: (page) => memberPage(db, { projectId, reference: params.audience, ...query, ...page }),
      });
    },
  }),
  ...audienceEditRoutes(loadAudience),
];

type AudiencesQuery = ListQuery & { projectId: number; filter?: string; sort?: SortOf<'audiences'> };

async function audiencePage(
  { db, listRuleNeeds }: Pick<Deps, 'db' | 'listRuleNeeds'>,
  { projectId, filter: text, sort = 'name', ...page }: AudiencesQuery,
): Promise<ListResponse<AudienceListed>> {
  const filter = readFilter(text, FILTER_KEYS.audiences);
  const now = new Date(db.clock.now());
  const audiences = await listAudiences(db, projectId);
  const growth = await listGrowth(db, { projectId, now, audiences });
  const uses = await findUses({ db, listRuleNeeds }, { projectId, now: now.getTime() });
  const rows = audiences
    .map((audience) => ({
      ...audience,
      growth: growth.get(audience.id) ?? [],
      used_by: uses.audiences.get(audience.id) ?? [],
    }))
    .filter(({ name, state, sentence, used_by: usedBy }) => {
      const rule = usedBy.map((use) => use.name);
      return matches(filter, { name, state, rule, [WORDS]: wordsText([name, sentence]) });
    });
  return pageOfAll(sorted(rows, sort), page);
}

/** Lists are by name, so audiences with equally many members stay in this order. */
function sorted(rows: AudienceListed[], sort: SortOf<'audiences'>): AudienceListed[] {
  if (sort === 'name') return rows;
  if (sort === '-name') return rows.toReversed();
  return rows.toSorted((a, b) => (sort === 'members' ? a.members - b.members : b.members - a.members));
}

type MembersQuery = ListQuery & { projectId: number; reference: string; filter?: string };

async function memberPage(
  tx: Tx,
  { projectId, reference, filter: text, ...query }: MembersQuery,
): Promise<ListResponse<AudienceMemberListed>> {
  const filter = readFilter(text, FILTER_KEYS.audience_members, await zoneOfProject(tx, projectId));
  const page = readPage(query, 1);
  const { rowsMax: limit, most } = page;
  const after = page.after?.[0] ?? null;
  const { members, total } = await searchMembers(tx, { projectId, reference, filter, after, limit, most });
  return toPage(members, page, {
    show: (member) => member,
    cursorOf: ({ external_user_id: id }) => [id],
    total,
  });
}

const MEMBER_CSV_COLUMNS: CsvColumns<AudienceMemberListed> = {
  external_user_id: ({ external_user_id: id }) => id,
  name: ({ name }) => name,
  email: ({ email }) => email,
  since: ({ since }) => since,
};

const CSV_COLUMNS: CsvColumns<AudienceListed> = {
  id: ({ id }) => id,
  name: ({ name }) => name,
  members: ({ members }) => members,
  state: ({ state }) => state,
  definition: ({ sentence }) => sentence,
  used_by: ({ used_by: uses }) => uses.map(({ name }) => name).join(', '),
  created_at: ({ created_at: at }) => at,
  updated_at: ({ updated_at: at }) => at,
};

async function loadAudience(
  { db, listRuleNeeds }: Pick<Deps, 'db' | 'listRuleNeeds'>,
  projectId: number,
  reference: string,
): Promise<AudienceDetails> {
  const now = new Date(db.clock.now());
  const audience = await showAudience(db, { projectId, reference, now });
  const uses = await findUses({ db, listRuleNeeds }, { projectId, now: now.getTime() });
  return { ...audience, used_by: uses.audiences.get(audience.id) ?? [] };
}

/** A trait that users of a project have, with its types and examples. */
type TraitName = { trait: string; types: string[]; known: boolean; examples: string[] };

/** The number of users to read from both ends of the id order. A trait that none of them has is not suggested, but it can be typed. */
const SAMPLED_MAX = 1_000;
const NAMES_MAX = 300;
const EXAMPLES = 5;
const EXAMPLE_CHARS = 60;

/** Lists traits, most frequent first. */
async function listTraitNames(tx: Tx, projectId: number): Promise<TraitName[]> {
  const people = `SELECT name, plan, signup_date, company, role, traits FROM beckon.person WHERE project_id = $1 ORDER BY external_user_id`;
  const rows = await tx.query<Omit<TraitName, 'known'>>(
    `WITH sampled AS (
       (${people} LIMIT ${SAMPLED_MAX}) UNION ALL (${people} DESC LIMIT ${SAMPLED_MAX})
     ), trait AS (
       SELECT t.key AS trait, t.value FROM sampled CROSS JOIN LATERAL jsonb_each(traits) t
       UNION ALL
       SELECT k.key, to_jsonb(k.value) FROM sampled CROSS JOIN LATERAL (VALUES
         ('name', name), ('plan', plan), ('signupDate', signup_date), ('company', company), ('role', role)
       ) AS k(key, value) WHERE k.value IS NOT NULL
     )
     SELECT trait, array_agg(DISTINCT jsonb_typeof(value)) AS types,
       coalesce((array_agg(DISTINCT left(value #>> '{}', ${EXAMPLE_CHARS}))
         FILTER (WHERE jsonb_typeof(value) IN ('string', 'number', 'boolean')))[1:${EXAMPLES}], '{}') AS examples
     FROM trait GROUP BY trait ORDER BY count(*) DESC, trait LIMIT ${NAMES_MAX}`,
    [projectId],
  );
  return rows.map((row) => ({ ...row, known: isKnownTrait(row.trait) }));
}
