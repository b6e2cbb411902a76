import { beforeEach, expect, test } from 'vitest';
import { fixedClock } from '../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../testing/factories/database.ts';
import { createAudience } from './change-audience.ts';
import { createProject } from '../administration/create-project.ts';
import { listBuilding, serveAudienceVersion } from './build-version.ts';
import { listMembers } from './list-members.ts';
import { writeMemberships } from './memberships.ts';
import { previewDefinition } from './preview-definition.ts';
import { showAudience } from './show-audiences.ts';
import { listRuleNeeds } from '../rules/runs/rules-in-force.ts';
import { noWrites } from '../processing/membership-writes.ts';

const clock = fixedClock();
const db = await openTestDatabase(clock);
const DAY_MS = 86_400_000;
const now = (): Date => new Date(clock.now());
let projectId: number;
let versionId: number;
let audienceId: string;
beforeEach(async () => {
  projectId = (await createProject(db, { name: 'Acme' })).id;
  await db.query(
    `INSERT INTO beckon.person (project_id, external_user_id, plan, traits, first_seen_at, last_seen_at)
     SELECT $1, 'u' || lpad(n::text, 2, '0'), CASE WHEN n % 2 = 0 THEN 'pro' END, '{}', $2, $2 FROM generate_series(1, 60) n`,
    [projectId, now()],
  );
  const definition = { trait: 'plan', equals: 'pro' };
  audienceId = (await createAudience({ db, listRuleNeeds }, { projectId, name: 'Pro', definition })).id;
  versionId = (await listBuilding(db, 100)).find((key) => key.projectId === projectId)?.versionId ?? 0;
});

const serve = () => db.transaction((tx) => serveAudienceVersion(tx, { projectId, versionId, now: now() }));
const move = (joined: string[], left: string[] = []) =>
  db.transaction((tx) =>
    writeMemberships(
      tx,
      {
        ...noWrites(),
        joined: joined.map((userId) => ({ projectId, userId, versionId, since: now() })),
        left: left.map((userId) => ({ projectId, userId, versionId })),
      },
      now(),
    ),
  );

test('lists members page by page in byte order, each once', async () => {
  const ids = ['a', 'b', 'B', 'é', '\u{FFFD}', '😀', 'z'];
  await move(ids);
  await serve();
  const read: string[] = [];
  for (let after: string | null = null; ;) {
    const page = await listMembers(db, { projectId, reference: 'Pro', after, limit: 2 });
    read.push(...page.map((member) => member.external_user_id));
    if (page.length === 0) break;
    after = page.at(-1)?.external_user_id ?? null;
  }
  expect(read).toEqual(['B', 'a', 'b', 'z', 'é', '\u{FFFD}', '😀']);
});

test('lists growth with one entry per day, including days without changes, for at most 30 days', async () => {
  await move(['u02', 'u04']);
  await serve();
  const growth = async () =>
    (await showAudience(db, { projectId, reference: audienceId, now: now() })).growth;
  expect(await growth()).toEqual([{ day: '2026-01-15', joined: 0, left: 0, members: 2 }]);
  clock.advance(2 * DAY_MS);
  await move(['u06', 'u08'], ['u02']);
  expect(await growth()).toEqual([
    { day: '2026-01-15', joined: 0, left: 0, members: 2 },
    { day: '2026-01-16', joined: 0, left: 0, members: 2 },
    { day: '2026-01-17', joined: 2, left: 1, members: 3 },
  ]);
  clock.advance(40 * DAY_MS);
  const later = await growth();
  expect(later).toHaveLength(30);
  expect(later[0]).toEqual({ day: '2026-01-28', joined: 0, left: 0, members: 3 });
  expect(later.at(-1)).toEqual({ day: '2026-02-26', joined: 0, left: 0, members: 3 });
});

test('shows an audience with its definition and at most 20 of its members', async () => {
  await move(Array.from({ length: 30 }, (_, i) => `u${10 + i}`));
  const audience = await showAudience(db, { projectId, reference: 'Pro', now: now() });
  expect(audience).toMatchObject({
    id: audienceId,
    state: 'building',
    members: 30,
    progress: { built: 0, users: 60 },
    definition: { trait: 'plan', equals: 'pro' },
  });
  expect(audience.sample).toHaveLength(20);
  expect(audience.sample[0]).toEqual({ external_user_id: 'u10', since: now().toISOString() });
  const unknown = showAudience(db, { projectId, reference: 'Unknown', now: now() });
  await expect(unknown).rejects.toMatchObject({ code: 'not_found' });
});

const preview = (definition: unknown, withinMs?: number) =>
  db.transaction((tx) =>
    previewDefinition(tx, {
      projectId,
      definition,
      now: now(),
      ...(withinMs === undefined ? {} : { withinMs }),
    }),
  );

test('previews the count, the first 20 users and the sentence, without creating anything', async () => {
  const found = await preview({ trait: 'plan', equals: 'pro' });
  expect(found).toMatchObject({ count: 30, sentence: 'plan is pro', uncountedEvents: [] });
  expect(found.sample.map((user) => user.external_user_id)).toEqual(
    Array.from({ length: 20 }, (_, i) => `u${String(2 * (i + 1)).padStart(2, '0')}`),
  );
  expect(await listBuilding(db, 100)).toContainEqual({ projectId, versionId });
  expect(await preview({ trait: 'plan', equals: 'none' })).toMatchObject({ count: 0, sample: [] });
});

test('previews a reference by the members that readers see', async () => {
  await move(['u02', 'u03']);
  await serve();
  const { count, sentence } = await preview({
    all: [{ audience: audienceId }, { trait: 'plan', equals: 'pro' }],
  });
  expect({ count, sentence }).toEqual({ count: 1, sentence: 'is in the audience “Pro” and plan is pro' });
  await expect(preview({ audience: '00000000-0000-7000-8000-000000000000' })).rejects.toMatchObject({
    code: 'validation_failed',
    details: [{ field: 'definition' }],
  });
});

test('lists in a preview the events that are not counted yet', async () => {
  const definition = {
    any: [
      { event: 'paid', at_least: 1 },
      { event: 'seen', first: { in_last: '7d' } },
    ],
  };
  expect((await preview(definition)).uncountedEvents).toEqual(['paid', 'seen']);
  await db.query('INSERT INTO beckon.counted_event VALUES ($1, $2, NULL, true), ($1, $3, NULL, false)', [
    projectId,
    'paid',
    'seen',
  ]);
  expect((await preview(definition)).uncountedEvents).toEqual(['seen']);
});

test('rejects a preview that takes too long', async () => {
  await db.query(
    `INSERT INTO beckon.person (project_id, external_user_id, traits, first_seen_at, last_seen_at)
     SELECT $1, 'many_' || n, '{"a": "xxxxxxxxxxxxxxxx"}', $2, $2 FROM generate_series(1, 30000) n`,
    [projectId, now()],
  );
  const slow = { any: Array.from({ length: 100 }, (_, i) => ({ trait: 'a', contains: `z${i}` })) };
  await expect(preview(slow, 5)).rejects.toMatchObject({
    code: 'validation_failed',
    details: [{ field: 'definition' }],
  });
});
