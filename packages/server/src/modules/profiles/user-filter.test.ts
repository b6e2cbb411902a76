import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fixedClock } from '../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../testing/factories/database.ts';
import { type PlanNode, planNodes, rowsProcessed } from '../../../testing/oracles/query-plans.ts';
import { createProject } from '../administration/create-project.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { LIST_SORTS } from '@beckon/contract/dashboard';
import { countFiltered, listFiltered, type UserPosition, type UserSort } from './list-users.ts';
import { readPeopleFilter } from './user-filter.ts';

/** A set of this many ids is many times larger than `work_mem` below. */
const PEOPLE = 20_000;
const WORK_MEM = '64kB';

const db = await openTestDatabase(fixedClock());
let projectId = 0;
const at = new Date();
const VERSIONS = [{ name: 'Pro', id: '018f0000-0000-7000-8000-000000000001', versionId: 7 }];

beforeAll(async () => {
  projectId = (await createProject(db, { name: 'Acme' })).id;
  await db.query(
    `INSERT INTO beckon.person (project_id, external_user_id, traits, first_seen_at, last_seen_at)
     SELECT $1, md5(n::text), '{}', $2, $2 FROM generate_series(1, $3::int) n`,
    [projectId, at, PEOPLE],
  );
  await db.query(
    `INSERT INTO beckon.person_email (project_id, external_user_id, email, email_lower)
     SELECT $1, md5(n::text), n || '@' || CASE WHEN n % 4 = 0 THEN 'other.example' ELSE 'example.com' END,
            n || '@' || CASE WHEN n % 4 = 0 THEN 'other.example' ELSE 'example.com' END FROM generate_series(1, $2::int) n`,
    [projectId, PEOPLE],
  );
  await db.query(
    `INSERT INTO beckon.audience_member (project_id, external_user_id, version_id, since)
     SELECT $1, md5(n::text), 7, $2 FROM generate_series(1, $3::int) n WHERE n % 5 > 0`,
    [projectId, at, PEOPLE],
  );
  await db.query('ANALYZE beckon.person, beckon.person_email, beckon.audience_member');
});
afterAll(() => db.query('DELETE FROM beckon.audience_member WHERE project_id = $1', [projectId]));

type PlanOptions = {
  filter: string;
  sort?: UserSort;
  after?: UserPosition | null;
  explain: 'EXPLAIN (FORMAT JSON)' | 'EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON)';
};

/** Returns the query plans of a page and its count. */
async function plansOf({ filter, sort = 'user', after = null, explain }: PlanOptions): Promise<PlanNode[][]> {
  const plans: PlanNode[][] = [];
  await db.transaction(async (tx) => {
    await tx.query(`SET LOCAL work_mem = '${WORK_MEM}'`);
    const explaining: Tx = {
      ...tx,
      async query(text, values) {
        const [row] = await tx.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(`${explain} ${text}`, values);
        plans.push(planNodes(row?.['QUERY PLAN'][0].Plan));
        return [];
      },
    };
    const query = { projectId, filter: readPeopleFilter(filter, 'UTC'), audiences: VERSIONS };
    await listFiltered(explaining, { ...query, sort, after, limit: 51 });
    await countFiltered(explaining, { ...query, upTo: 10_001 });
  });
  return plans;
}

const NEGATED = [
  '-email:*@example.com',
  '-audience:Pro',
  '-email:*@example.com -audience:Pro -email:1*',
  '-email:*@example.com -plan:pro trait.seats:5,6 -seen:2020-01-01',
];

const MANY = Array.from({ length: 20 }, (_, n) => `-email:*${n}x*`).join(' ');

describe('order of users', () => {
  const middle = { userId: '8', firstSeenAt: at.getTime() };

  test.each(LIST_SORTS.users)('reads only the rows of a page by %s, by an index', async (sort) => {
    for (const after of [null, middle]) {
      const [nodes = []] = await plansOf({
        filter: '',
        sort,
        after,
        explain: 'EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON)',
      });
      expect(nodes.map((node) => node['Node Type'])).not.toContain('Seq Scan');
      expect(rowsProcessed(nodes)).toBeGreaterThan(51);
      expect(rowsProcessed(nodes)).toBeLessThan(10 * 51);
    }
  });
});

describe('people filter', () => {
  test.each(NEGATED)(
    'plans %s as an anti join, also where the list does not fit into work_mem',
    async (filter) => {
      for (const nodes of await plansOf({ filter, explain: 'EXPLAIN (FORMAT JSON)' })) {
        const antiJoins = nodes.filter((node) => node['Join Type']?.endsWith('Anti')).length;
        expect(antiJoins).toBe(new Set(filter.match(/-(?:email|audience):/g)).size);
        // A subplan in a condition is evaluated row by row.
        expect(nodes.filter(({ Filter = '' }) => Filter.includes('SubPlan'))).toEqual([]);
      }
    },
  );

  test.each(NEGATED)('reads each row of %s a bounded number of times', async (filter) => {
    for (const nodes of await plansOf({ filter, explain: 'EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON)' }))
      expect(rowsProcessed(nodes)).toBeLessThan(20 * PEOPLE);
  });

  test.each(['7x', '-7x'])('reads each row a bounded number of times for the word %s', async (filter) => {
    for (const nodes of await plansOf({ filter, explain: 'EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON)' }))
      expect(rowsProcessed(nodes)).toBeLessThan(20 * PEOPLE);
  });

  test('puts many terms of one key into one subquery', async () => {
    for (const filter of [MANY, MANY.replaceAll('-email', 'email')])
      for (const nodes of await plansOf({ filter, explain: 'EXPLAIN (FORMAT JSON)' }))
        expect(nodes.filter((node) => node['Join Type'] !== undefined)).toHaveLength(1);
  });

  test('finds the users that a negated term leaves', async () => {
    const count = (filter: string): Promise<number> =>
      countFiltered(db, {
        projectId,
        filter: readPeopleFilter(filter, 'UTC'),
        audiences: VERSIONS,
        upTo: PEOPLE,
      });
    expect(await count('-email:*@example.com')).toBe(PEOPLE / 4);
    expect(await count('-audience:Pro')).toBe(PEOPLE / 5);
    expect(await count('-email:*@example.com -audience:Pro')).toBe(PEOPLE / 20);
    expect(await count('email:*@example.com -audience:Pro')).toBe((PEOPLE / 20) * 3);
    expect(await count('-email:*@example.com -email:*@other.example')).toBe(0);
    expect(await count('email:*@example.com email:1@*')).toBe(1);
    expect(await count('email:*@example.com email:4@*')).toBe(0);
  });
});
