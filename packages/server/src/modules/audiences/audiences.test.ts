import { beforeEach, expect, test } from 'vitest';
import { fixedClock } from '../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../testing/factories/database.ts';
import type { Fault } from '../../platform/fault.ts';
import { createAudience, deleteAudience, editAudience } from './change-audience.ts';
import { createProject } from '../administration/create-project.ts';
import { listBuilding, serveAudienceVersion } from './build-version.ts';
import { advanceBuild } from './build-store.ts';
import { deleteRetired, listRetired } from './delete-retired.ts';
import { findAudience } from './audience.ts';
import { listAudiences } from './show-audiences.ts';
import { listMembers } from './list-members.ts';
import { listReferrers } from './references.ts';
import { loadModels, listCountedNames } from './load-models.ts';
import { writeMemberships } from './memberships.ts';
import { rebuildAudience } from './write-audience.ts';
import { listRuleNeeds } from '../rules/runs/rules-in-force.ts';
import { noWrites } from '../processing/membership-writes.ts';

const clock = fixedClock();
const db = await openTestDatabase(clock);
let projectId: number;
beforeEach(async () => {
  projectId = (await createProject(db, { name: 'Acme' })).id;
});

const IS_PRO = { trait: 'plan', equals: 'pro' };
const IS_FREE = { trait: 'plan', equals: 'free' };
const now = (): Date => new Date(clock.now());

const create = async (name: string, definition: unknown = IS_PRO, of = projectId): Promise<string> =>
  (await createAudience({ db, listRuleNeeds }, { projectId: of, name, definition })).id;
const edit = (reference: string, more: { name?: string; definition?: unknown }) =>
  editAudience({ db, listRuleNeeds }, { projectId, reference, ...more });
const building = async () =>
  (await listBuilding(db, 1_000))
    .filter((key) => key.projectId === projectId)
    .map(({ versionId }) => versionId);
const serve = (versionId: number) =>
  db.transaction((tx) => serveAudienceVersion(tx, { projectId, versionId, now: now() }));
const join = (versionId: number, ...userIds: string[]) =>
  db.transaction((tx) =>
    writeMemberships(
      tx,
      { ...noWrites(), joined: userIds.map((userId) => ({ projectId, userId, versionId, since: now() })) },
      now(),
    ),
  );
async function createServed(name: string, definition?: unknown): Promise<{ id: string; versionId: number }> {
  const id = await create(name, definition);
  const versionId = (await building()).at(-1) ?? 0;
  await serve(versionId);
  return { id, versionId };
}
const states = () =>
  db.query<{ version_id: number; state: string }>(
    'SELECT version_id, state FROM beckon.audience_version WHERE project_id = $1 ORDER BY version_id',
    [projectId],
  );

/** Returns the fault of a rejected change, which leaves the project as it was. */
async function faultOf(work: Promise<unknown>): Promise<Fault | undefined> {
  return work.then(
    () => undefined,
    (error: Fault) => error,
  );
}

/** Returns the code and the field of a rejected change. */
async function refusal(work: Promise<unknown>): Promise<string> {
  const fault = await faultOf(work);
  return `${fault?.code} ${fault?.details[0]?.field}`;
}

const remove = (reference: string) => deleteAudience({ db, listRuleNeeds }, { projectId, reference });

test('says why a change is refused', async () => {
  const { id: a } = await createServed('A');
  const { id: b } = await createServed('B', { audience: a });
  const c = await create('C', { any: [IS_FREE, { audience: b }] });
  const large = { any: Array.from({ length: 80 }, () => ({ trait: 'a', equals: 'x'.repeat(1_000) })) };
  const messages: (string | undefined)[] = [];
  for (const change of [
    () => create(' A '),
    () => create(''),
    () => create(a),
    () => create('D', { all: [IS_PRO, { trait: 'age', at_least: 'x' }] }),
    () => create('D', null),
    () => create('D', large),
    () => create('D', { audience: '00000000-0000-7000-8000-000000000000' }),
    () => edit(a, { definition: { audience: a } }),
    () => edit(a, { definition: { not: { audience: c } } }),
    () => remove('A'),
  ])
    messages.push((await faultOf(change()))?.message);
  expect(messages).toMatchInlineSnapshot(`
    [
      "name is taken: another audience is called "A"",
      "name must have 1 to 100 characters, without control characters",
      "name must not look like an id",
      "definition.all.1.at_least must be a number",
      "definition must be an object with one of all, any, not, trait, user, event or audience",
      "definition must not have more than 64 KiB",
      "definition refers to an audience that is not there: "00000000-0000-7000-8000-000000000000"",
      "definition must not refer to the audience itself",
      "definition would refer to itself: it refers to "C", which refers to "B", which refers to "A"",
      ""A" cannot be deleted: "B" refers to it",
    ]
  `);
});

test('builds a new audience, which is ready once its version is served', async () => {
  await db.query(
    `INSERT INTO beckon.person (project_id, external_user_id, traits, first_seen_at, last_seen_at)
     SELECT $1, 'u' || n, '{}', $2, $2 FROM generate_series(1, 3) n`,
    [projectId, now()],
  );
  const id = await create('  Paying  ');
  const [versionId] = await building();
  expect(versionId).toBe(1);
  const listed = {
    id,
    name: 'Paying',
    sentence: 'plan is pro',
    created_at: now().toISOString(),
    updated_at: now().toISOString(),
  };
  expect(await listAudiences(db, projectId)).toEqual([
    { ...listed, state: 'building', members: 0, progress: { built: 0, users: 3 } },
  ]);
  await join(1, 'u1', 'u2');
  expect(await advanceBuild(db, { projectId, versionId: 1, builtTo: 'u2', built: 2 })).toBe(true);
  expect((await loadModels(db, [projectId])).get(projectId)?.versions).toMatchObject([
    { versionId: 1, state: 'building', builtTo: 'u2', built: 2, name: 'Paying' },
  ]);
  expect(await listAudiences(db, projectId)).toEqual([
    { ...listed, state: 'building', members: 2, progress: { built: 2, users: 3 } },
  ]);
  await advanceBuild(db, { projectId, versionId: 1, builtTo: 'u4', built: 4 });
  expect(await serve(1)).toEqual({ audienceId: id, members: 2 });
  expect(await listAudiences(db, projectId)).toEqual([
    { ...listed, state: 'ready', members: 2, progress: null },
  ]);
  // A process that is still building it learns that the build has ended.
  expect(await serve(1)).toBeNull();
  expect(await advanceBuild(db, { projectId, versionId: 1, builtTo: 'u5', built: 5 })).toBe(false);
});

test('serves the old definition of an edited audience until the new one is built', async () => {
  const { id, versionId: old } = await createServed('Paying');
  await join(old, 'u1', 'u2');
  await edit('Paying', { definition: IS_FREE });
  const members = () => listMembers(db, { projectId, reference: 'Paying', limit: 10 });
  expect((await members()).map((member) => member.external_user_id)).toEqual(['u1', 'u2']);
  expect(await listAudiences(db, projectId)).toMatchObject([
    { id, state: 'rebuilding', members: 2, sentence: 'plan is free', progress: { built: 0, users: 0 } },
  ]);
  const [second] = await building();
  // A third definition replaces the second, which was never served.
  await edit(id, { definition: { trait: 'plan', equals: 'team' } });
  const [third] = await building();
  expect(await states()).toEqual([
    { version_id: old, state: 'served' },
    { version_id: second, state: 'retired' },
    { version_id: third, state: 'building' },
  ]);
  await join(third ?? 0, 'u3');
  expect((await members()).map((member) => member.external_user_id)).toEqual(['u1', 'u2']);
  await serve(third ?? 0);
  expect((await members()).map((member) => member.external_user_id)).toEqual(['u3']);
  const days = await db.query(
    'SELECT joined, left_count, members FROM beckon.audience_day WHERE project_id = $1',
    [projectId],
  );
  // Users that a new definition adds do not count as joined.
  expect(days).toEqual([{ joined: 2, left_count: 0, members: 1 }]);
});

test('builds nothing for a new name or an unchanged definition', async () => {
  const { id } = await createServed('Paying', { all: [IS_PRO, { trait: 'age', at_least: 18 }] });
  clock.advance(1_000);
  await edit('Paying', { name: 'Payers', definition: { all: [IS_PRO, { at_least: 18, trait: 'age' }] } });
  expect(await building()).toEqual([]);
  expect(await findAudience(db, { projectId, reference: 'Payers' })).toMatchObject({ id, updatedAt: now() });
  await expect(findAudience(db, { projectId, reference: 'Paying' })).rejects.toMatchObject({
    code: 'not_found',
  });
});

test('makes a new model for every change of definitions, and none for a rejected change', async () => {
  const model = async () =>
    (
      await db.query<{ model: number }>('SELECT model FROM beckon.project_lock WHERE project_id = $1', [
        projectId,
      ])
    )[0]?.model;
  const id = await create('Paying');
  await edit(id, { name: 'Payers' });
  await edit(id, { definition: IS_FREE });
  expect(await model()).toBe(3);
  await edit(id, { definition: { trait: 'plan' } }).catch(() => {});
  await create('Payers').catch(() => {});
  expect(await model()).toBe(3);
  await remove(id);
  expect(await model()).toBe(4);
});

test('accepts a name of 1 to 100 characters that is not an id and is unique in the project', async () => {
  await create('Paying');
  expect(await refusal(create(' Paying '))).toBe('validation_failed name');
  const id = await create('Free');
  expect(await refusal(edit(id, { name: 'Paying' }))).toBe('validation_failed name');
  for (const name of ['', '   ', 'x'.repeat(101), 'a\nb', 'a\u0000', '\ud800'])
    expect(await refusal(create(name)), JSON.stringify(name)).toBe('validation_failed name');
  expect(await refusal(create(id))).toBe('validation_failed name');
  await create('x'.repeat(100));
  // Names are unique per project.
  const { id: other } = await createProject(db, { name: 'Other' });
  await create('Paying', IS_PRO, other);
  expect(await listAudiences(db, other)).toHaveLength(1);
});

test('rejects all but one of several audiences that are created concurrently with one name', async () => {
  const results = await Promise.allSettled([create('Paying'), create('Paying'), create('Paying')]);
  const refused = results
    .filter((result) => result.status === 'rejected')
    .map(({ reason }) => (reason as Fault).code);
  expect(refused).toEqual(['validation_failed', 'validation_failed']);
});

test('rejects an invalid definition with the path of the error, and one larger than 64 KiB', async () => {
  expect(await refusal(create('A', { all: [IS_PRO, { trait: 'age', at_least: 'x' }] }))).toBe(
    'validation_failed definition.all.1.at_least',
  );
  expect(await refusal(create('A', null))).toBe('validation_failed definition');
  const large = { any: Array.from({ length: 80 }, () => ({ trait: 'a', equals: 'x'.repeat(1_000) })) };
  expect(await refusal(create('A', large))).toBe('validation_failed definition');
  expect(await listAudiences(db, projectId)).toEqual([]);
});

test('lets a definition refer only to audiences of its own project', async () => {
  const { id: other } = await createProject(db, { name: 'Other' });
  const foreign = await create('Foreign', IS_PRO, other);
  expect(await refusal(create('A', { audience: foreign }))).toBe('validation_failed definition');
  const id = await create('Mine');
  expect(await refusal(edit(id, { definition: { not: { audience: foreign } } }))).toBe(
    'validation_failed definition',
  );
  await create('Of mine', { audience: id.toUpperCase() });
});

test('rejects circular references, also among audiences that are being built', async () => {
  const { id: a } = await createServed('A');
  const { id: b } = await createServed('B', { audience: a });
  const c = await create('C', { any: [IS_FREE, { audience: b }] });
  expect(await refusal(edit(a, { definition: { audience: a } }))).toBe('validation_failed definition');
  expect(await refusal(edit(a, { definition: { not: { audience: c } } }))).toBe(
    'validation_failed definition',
  );
  // B will refer to nothing, but it still refers to A until its new definition is built.
  await edit(b, { definition: IS_FREE });
  expect(await refusal(edit(a, { definition: { audience: c } }))).toBe('validation_failed definition');
  // Audiences that were being built on the old version of B restarted their builds behind the new one.
  const [newB] = await building();
  await serve(newB ?? 0);
  await edit(a, { definition: { audience: c } });
  const versions = (await loadModels(db, [projectId])).get(projectId)?.versions ?? [];
  expect(versions.map(({ name }) => name)).toEqual(['A', 'B', 'C', 'A']);
});

test('does not delete an audience that another one refers to, and deletes every row of one without referrers', async () => {
  const { id, versionId } = await createServed('Paying');
  await createServed('Of paying', { audience: id });
  await edit('Of paying', { definition: IS_FREE });
  expect((await listReferrers(db, projectId, id)).map(({ name }) => name)).toEqual(['Of paying']);
  expect(await refusal(remove('Paying'))).toBe('validation_failed audience');
  const [next] = await building();
  await serve(next ?? 0);
  await join(versionId, 'u1', 'u2', 'u3');
  await db.query('INSERT INTO beckon.audience_timer VALUES ($1, $2, $3, $4)', [
    projectId,
    'u1',
    versionId,
    now(),
  ]);
  expect(await remove('Paying')).toMatchObject({
    id,
    name: 'Paying',
  });
  expect((await listAudiences(db, projectId)).map(({ name }) => name)).toEqual(['Of paying']);
  await expect(findAudience(db, { projectId, reference: id })).rejects.toMatchObject({ code: 'not_found' });
  // Rows are deleted a few at a time. Rows of a version that is served stay.
  expect(await deleteRetired(db, { projectId, versionId: next ?? 0, limit: 100 })).toBe(true);
  expect((await states()).find((row) => row.version_id === next)?.state).toBe('served');
  const retired = async () => (await listRetired(db, 100)).filter((key) => key.projectId === projectId);
  expect(await retired()).toHaveLength(2);
  const results = [];
  for (let i = 0; i < 3; i += 1) results.push(await deleteRetired(db, { projectId, versionId, limit: 2 }));
  expect(results).toEqual([false, false, true]);
  for (const key of await retired()) await deleteRetired(db, { ...key, limit: 100 });
  expect(await retired()).toEqual([]);
  const remaining = await db.query<{ rows: number }>(
    `SELECT (SELECT count(*) FROM beckon.audience_member WHERE project_id = $1)
          + (SELECT count(*) FROM beckon.audience_timer WHERE project_id = $1)
          + (SELECT count(*) FROM beckon.audience_day WHERE project_id = $1 AND audience_id = $2) AS rows`,
    [projectId, id],
  );
  expect(remaining).toEqual([{ rows: 0 }]);
});

test('rebuilds an audience that refers to a changed one, from its latest definition', async () => {
  const { id: a } = await createServed('A');
  const { id: b, versionId } = await createServed('B', { audience: a });
  const rebuild = (number: number) =>
    db.transaction((tx) =>
      rebuildAudience({ tx, clock }, { projectId, audienceId: b, versionId: number, people: 7 }),
    );
  await rebuild(100);
  await rebuild(101);
  expect((await states()).filter((row) => row.version_id >= versionId)).toEqual([
    { version_id: versionId, state: 'served' },
    { version_id: 100, state: 'retired' },
    { version_id: 101, state: 'building' },
  ]);
  expect((await loadModels(db, [projectId])).get(projectId)?.byId.get(101)?.mentions.audiences).toEqual(
    new Set([a]),
  );
});

test('loads the models of several projects at once, and an empty model for a project without audiences', async () => {
  const { id: other } = await createProject(db, { name: 'Other' });
  const { id: none } = await createProject(db, { name: 'None' });
  await create('Mine', { event: 'paid', at_least: 2 });
  await create('Theirs', { event: 'seen', last: { in_last: '7d' } }, other);
  const models = await loadModels(db, [projectId, other, none]);
  expect([...models].map(([id, { versions }]) => [id, versions.map(({ name }) => name)])).toEqual([
    [projectId, ['Mine']],
    [other, ['Theirs']],
    [none, []],
  ]);
  expect(await listCountedNames(db, projectId)).toEqual(['paid']);
  expect(await listCountedNames(db, other)).toEqual(['seen']);
  expect(await listCountedNames(db, none)).toEqual([]);
});

test('limits a project to 500 audiences', async () => {
  const id = await create('First');
  await db.query(
    `INSERT INTO beckon.audience SELECT project_id, gen_random_uuid(), 'copy ' || n, created_at, updated_at
     FROM beckon.audience, generate_series(1, 499) n WHERE project_id = $1`,
    [projectId],
  );
  await db.query(
    `INSERT INTO beckon.audience_version (project_id, version_id, audience_id, state, definition, members, users, built, created_at)
     SELECT project_id, 1000 + row_number() OVER (), id, 'building', '{"trait": "a", "is_set": true}', 0, 0, 0, created_at
     FROM beckon.audience WHERE project_id = $1 AND id <> $2`,
    [projectId, id],
  );
  expect((await faultOf(create('One more')))?.message).toMatchInlineSnapshot(
    `"This project has 500 audiences, which is the maximum. Delete one first"`,
  );
});
