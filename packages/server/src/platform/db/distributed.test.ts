import { describe, expect, onTestFinished, test } from 'vitest';
import { openTestDatabase } from '../../../testing/factories/database.ts';
import { statementsOfSources } from '../../../testing/oracles/source-statements.ts';
import { systemClock } from '../time/clock.ts';
import { byProject, claimOfAny } from './distributed.ts';
import { nameProject, readListStatement } from './name-project.ts';
import type { Tx } from './statements.ts';

const db = await openTestDatabase(systemClock);

const words = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

describe('nameProject', () => {
  const FIND = `SELECT p.name FROM unnest($1::bigint[], $2::text[]) AS k(project_id, user_id)
    JOIN beckon.person p ON p.project_id = k.project_id AND p.external_user_id = k.user_id`;

  test('adds the project of a list that holds no other, and compares both sides with it', () => {
    const { name, text, values } = nameProject({ name: 'find', text: FIND, values: ['{7,7}', ['a', 'b']] });
    expect(words(text)).toBe(
      `SELECT p.name FROM unnest($1::bigint[], $2::text[]) AS k(project_id, user_id) ` +
        `JOIN beckon.person p ON (p.project_id = $3::bigint AND k.project_id = $3::bigint) AND p.external_user_id = k.user_id`,
    );
    expect([name, values]).toEqual(['find.project', ['{7,7}', ['a', 'b'], '7']]);
  });

  test('takes the list as an array, replaces one that is not used any more, and names no project for an empty one', () => {
    const lock = 'SELECT 1 FROM beckon.project_lock WHERE project_id = ANY ($1::bigint[]) FOR UPDATE';
    expect(nameProject({ text: lock, values: [[5]] })).toEqual({
      text: 'SELECT 1 FROM beckon.project_lock WHERE project_id = $1::bigint FOR UPDATE',
      values: [5],
    });
    expect(nameProject({ text: lock, values: [[]] }).values).toEqual([null]);
  });

  test('leaves lists of several projects, statements without a list and other lists of numbers as they are', () => {
    const queries = [
      { text: FIND, values: ['{7,8}', ['a', 'b']] },
      {
        text: 'SELECT 1 FROM beckon.person p JOIN beckon.draft d ON d.project_id = p.project_id',
        values: [],
      },
      {
        text: `SELECT 1 FROM unnest($1::bigint[]) WITH ORDINALITY AS e(version_id, n) JOIN beckon.audience_member m
               ON m.version_id = e.version_id JOIN beckon.person p ON p.project_id = m.project_id`,
        values: [[1]],
      },
    ];
    for (const query of queries) expect(nameProject(query)).toEqual(query);
  });

  test('restricts rows that are found by their address, or by several columns, to the project', () => {
    const byAddress = readListStatement(`DELETE FROM beckon.ingest_queue WHERE ctid = ANY (ARRAY(SELECT i.ctid
      FROM unnest($1::bigint[]) AS t(project_id) JOIN beckon.ingest_queue i ON i.project_id = t.project_id))`);
    expect(byAddress?.text).toMatch(/WHERE project_id = \$2::bigint AND ctid = ANY/);
    const byColumns = readListStatement(`DELETE FROM beckon.suppression WHERE (project_id, kind) IN (
      SELECT * FROM unnest($1::bigint[], $2::text[]))`);
    expect(byColumns?.text).toMatch(/WHERE project_id = \$3::bigint AND \(project_id, kind\) IN/);
  });

  test('names the project in every statement of the sources that locks rows of a list of projects', () => {
    const locking = statementsOfSources().filter(
      ({ text }) =>
        /\bFOR (?:NO KEY )?(?:UPDATE|KEY SHARE|SHARE)\b/.test(text) &&
        /unnest\(\$\d::bigint|= ANY ?\(\$\d::bigint/.test(text),
    );
    expect(locking.length).toBeGreaterThan(8);
    for (const { file, line, text } of locking)
      expect([file, line, readListStatement(text) === null]).toEqual([file, line, false]);
  });

  test('gives the same rows as the statement with the list', async () => {
    await db.query(
      `INSERT INTO beckon.project (project_id, name, livemode, created_at) VALUES (7, 'Seven', true, now()), (8, 'Eight', true, now())`,
    );
    onTestFinished(async () => void (await db.query('DELETE FROM beckon.project')));
    const query = {
      text: `SELECT x.n::int AS n, p.name FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS x(project_id, name, n)
             LEFT JOIN beckon.project p ON p.project_id = x.project_id AND p.name = x.name ORDER BY x.n`,
      values: [
        [7, 7],
        ['Seven', 'Eight'],
      ],
    };
    const named = nameProject(query);
    expect(named.text).not.toBe(query.text);
    expect(await db.query(named.text, named.values)).toEqual(await db.query(query.text, query.values));
  });
});

/** Records the statements. `rows`: those of each statement, by a part of its text. */
function recorder(
  isDistributed: boolean,
  rows: Record<string, object[]> = {},
): { tx: Tx; sent: unknown[][] } {
  const sent: unknown[][] = [];
  const answer = (text: string, values: unknown[] = []): Promise<never> => {
    sent.push([text, values]);
    const found = Object.entries(rows).find(([part]) => text.includes(part) || values.includes(Number(part)));
    return Promise.resolve((found?.[1] ?? []) as never);
  };
  return { sent, tx: { isDistributed, query: answer, prepared: ({ text, values }) => answer(text, values) } };
}

describe('claimOfAny', () => {
  const CLAIM = {
    due: { text: 'SELECT project_id FROM due', values: [1] },
    text: (of: (table: string) => string) => `CLAIM WHERE ${of('w')}at <= $1`,
    values: [1],
  };

  test('sends one statement to a database that is not distributed', async () => {
    const { tx, sent } = recorder(false, { CLAIM: [{ id: 1 }] });
    expect(await claimOfAny(tx, CLAIM)).toEqual([{ id: 1 }]);
    expect(sent).toEqual([['CLAIM WHERE at <= $1', [1]]]);
  });

  test('otherwise finds the due projects, and claims in the first that has a free row', async () => {
    const projects = [{ project_id: 31 }, { project_id: 31 }, { project_id: 32 }, { project_id: 33 }];
    const { tx, sent } = recorder(true, { 'FROM due': projects, 32: [{ id: 2 }] });
    expect(await claimOfAny(tx, CLAIM)).toEqual([{ id: 2 }]);
    expect(sent).toEqual([
      ['SELECT project_id FROM due LIMIT 20', [1]],
      ['CLAIM WHERE w.project_id = $2::bigint AND at <= $1', [1, 31]],
      ['CLAIM WHERE w.project_id = $2::bigint AND at <= $1', [1, 32]],
    ]);
  });
});

test('byProject groups rows by project in a distributed database only', async () => {
  const rows = [1, 2, 1].map((projectId, n) => ({ projectId, n }));
  const of = { rows, projectOf: ({ projectId }: (typeof rows)[number]) => projectId };
  const work = (group: typeof rows): Promise<string[]> =>
    Promise.resolve([group.map(({ n }) => n).join(' ')]);
  expect(await byProject(recorder(false).tx, of, work)).toEqual(['0 1 2']);
  expect(await byProject(recorder(true).tx, of, work)).toEqual(['0 2', '1']);
});
