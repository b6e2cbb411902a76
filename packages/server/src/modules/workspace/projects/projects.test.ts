import { RATE_LIMIT_DEFAULTS } from '@beckon/contract';
import { beforeEach, expect, test } from 'vitest';
import { fixedClock } from '../../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../../testing/factories/database.ts';
import { createProject } from '../../administration/create-project.ts';
import { resumeProject, suspendProject } from '../../administration/suspend-project.ts';
import { findProject, listProjects } from './project.ts';
import { getSettings } from './project-settings.ts';
import { listRateLimits, readEndpoint, setRateLimit } from '../../administration/setting-routes.ts';
import { writeSettings } from '../../administration/write-settings.ts';

const clock = fixedClock();
const db = await openTestDatabase(clock);
let projectId: number;
beforeEach(async () => {
  await db.query(
    'TRUNCATE beckon.project, beckon.project_settings, beckon.ingest_queue_state, beckon.rate_limit, beckon.api_key CASCADE',
  );
  projectId = (await createProject(db, { name: 'Acme' })).id;
});

test('creates a project with its priority, its settings and five full buckets', async () => {
  const at = new Date(clock.now());
  expect(await listProjects(db)).toEqual([
    { id: projectId, name: 'Acme', livemode: true, suspendedAt: null, createdAt: at },
  ]);
  expect(await db.query('SELECT * FROM beckon.ingest_queue_state')).toEqual([
    { project_id: projectId, next_seq: 1, waiting: 0 },
  ]);
  const buckets = await db.query<{ endpoint: string; rate: number; burst: number; tokens: number }>(
    'SELECT endpoint, rate, burst, tokens FROM beckon.rate_limit WHERE project_id = $1 AND refilled_at = $2',
    [projectId, at],
  );
  expect(buckets.toSorted((a, b) => (a.endpoint < b.endpoint ? -1 : 1))).toEqual(
    Object.entries(RATE_LIMIT_DEFAULTS)
      .map(([endpoint, limit]) => ({ endpoint, ...limit, tokens: limit.burst }))
      .toSorted((a, b) => (a.endpoint < b.endpoint ? -1 : 1)),
  );
});

test('creates no project if its queue row cannot be created', async () => {
  const [next] = await db.query<{ id: number }>(`SELECT last_value + 1 AS id FROM beckon.project_id_seq`);
  await db.query('ALTER TABLE beckon.ingest_queue_state DROP CONSTRAINT ingest_queue_state_project_id_fkey');
  await db.query('INSERT INTO beckon.ingest_queue_state VALUES ($1, 1, 0)', [next?.id]);
  await expect(createProject(db, { name: 'Half' })).rejects.toThrow('ingest_queue_state_pkey');
  expect((await listProjects(db)).map((project) => project.name)).toEqual(['Acme']);
});

test('finds a project by id or name, and by neither if two have the name', async () => {
  expect((await findProject(db, String(projectId))).name).toBe('Acme');
  expect((await findProject(db, 'Acme')).id).toBe(projectId);
  const twin = await createProject(db, { name: 'Acme' });
  await expect(findProject(db, 'Acme')).rejects.toThrow(`${projectId}, ${twin.id}`);
  for (const reference of ['acme', '999999', '', `0${projectId}`, '99999999999999999999', 'a\0b'])
    await expect(findProject(db, reference)).rejects.toMatchObject({ code: 'not_found' });
});

test('rejects a name that looks like an id or cannot be typed again', async () => {
  for (const name of ['', '42', ' Acme', 'Acme ', 'a\nb', 'a\0b', 'x'.repeat(101)])
    await expect(createProject(db, { name })).rejects.toMatchObject({ code: 'validation_failed' });
});

test('keeps the first time when a project is suspended twice, and clears it on resume', async () => {
  const first = await suspendProject(db, projectId);
  expect(first.suspendedAt).toEqual(new Date(clock.now()));
  clock.advance(60_000);
  expect(await suspendProject(db, projectId)).toEqual(first);
  expect((await resumeProject(db, projectId)).suspendedAt).toBeNull();
  await expect(suspendProject(db, 999_999)).rejects.toMatchObject({ code: 'not_found' });
});

test('keeps settings made concurrently, and the defaults of all others', async () => {
  await Promise.all([
    writeSettings(db, projectId, { quiet_hours: 'off' }),
    writeSettings(db, projectId, { autopilot: 'draft', time_zone: 'europe/paris' }),
  ]);
  const { settings, texts } = await getSettings(db, projectId);
  expect(texts).toEqual({
    quiet_hours: 'off',
    frequency_cap: '1/24h,3/7d',
    throttle: '10/s',
    autopilot: 'draft',
    drafting: 'template',
    time_zone: 'Europe/Paris',
    language: 'en',
    paused: 'false',
    keep_events: 'forever',
    keep_stream: '90d',
    keep_dead: 'forever',
    keep_emails: '90d',
    from_name: 'none',
    from_address: 'none',
    reply_to: 'none',
    postal_address: 'none',
    footer: 'none',
    reply_forward_to: 'none',
    reply_plus_addressing: 'off',
    topics: 'none',
    tracking: 'opens,clicks',
    team_addresses: 'none',
    sandbox: 'off',
  });
  expect(settings).toMatchObject({ quietHours: null, autopilotMs: null, timeZone: 'Europe/Paris' });
});

test('names each invalid setting with its accepted values, and changes none', async () => {
  const input = { paused: 'true', quiet_hours: 'late', colour: 'red' };
  await expect(writeSettings(db, projectId, input)).rejects.toMatchObject({
    details: [
      { field: 'quiet_hours', message: expect.stringContaining('21:00-08:00') as string },
      { field: 'colour', message: expect.stringContaining('quiet_hours') as string },
    ],
  });
  expect((await getSettings(db, projectId)).settings.paused).toBe(false);
});

const bucket = async () =>
  (
    await db.query<{ tokens: number; refilled_at: Date }>(
      `SELECT tokens, refilled_at FROM beckon.rate_limit WHERE project_id = $1 AND endpoint = 'events'`,
      [projectId],
    )
  )[0];
const drain = (tokens: number) =>
  db.query(`UPDATE beckon.rate_limit SET tokens = $2 WHERE project_id = $1 AND endpoint = 'events'`, [
    projectId,
    tokens,
  ]);
const set = (change: { rate?: number; burst?: number }) =>
  setRateLimit({ tx: db, clock }, { projectId, endpoint: 'events' }, change);

test('changes the limit of one endpoint, and keeps the rate or burst that is not given', async () => {
  expect(await set({ rate: 50_000, burst: 100_000 })).toEqual({
    endpoint: 'events',
    rate: 50_000,
    burst: 100_000,
  });
  expect(await set({ rate: 0.5 })).toEqual({ endpoint: 'events', rate: 0.5, burst: 100_000 });
  expect(await listRateLimits(db, projectId)).toEqual(
    Object.entries(RATE_LIMIT_DEFAULTS).map(([endpoint, limit]) =>
      endpoint === 'events' ? { endpoint, rate: 0.5, burst: 100_000 } : { endpoint, ...limit },
    ),
  );
});

test('keeps a full bucket full, caps tokens at a lower burst, and credits past time at the old rate', async () => {
  await set({ burst: 5_000 });
  expect(await bucket()).toMatchObject({ tokens: 5_000 });
  await set({ burst: 10 });
  expect(await bucket()).toMatchObject({ tokens: 10 });
  await set({ burst: 10_000, rate: 1_000 });
  await drain(0);
  clock.advance(2_000);
  await set({ rate: 1 });
  expect(await bucket()).toEqual({ tokens: 2_000, refilled_at: new Date(clock.now()) });
});

test('rejects an empty or invalid limit', async () => {
  for (const change of [
    {},
    { rate: 0 },
    { rate: -1 },
    { rate: NaN },
    { rate: Infinity },
    { burst: 0.5 },
    { burst: 1.5 },
  ])
    await expect(set(change)).rejects.toMatchObject({ code: 'validation_failed' });
});

test('reads an endpoint by its name or its path', () => {
  expect(['users', 'users/bulk', 'events-batch', 'events/bulk'].map(readEndpoint)).toEqual([
    'users',
    'users-bulk',
    'events-batch',
    'events-bulk',
  ]);
  expect(() => readEndpoint('drafts')).toThrow('users-bulk');
});
