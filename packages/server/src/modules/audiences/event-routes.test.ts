import { afterAll, beforeEach, expect, test } from 'vitest';
import type { EventListed, EventDetails } from '@beckon/contract/dashboard';
import { fixedClock } from '../../../testing/factories/clock.ts';
import { testDashboard } from '../../../testing/servers/dashboard.ts';
import { openTestDatabase } from '../../../testing/factories/database.ts';
import { openEngine } from '../../../testing/factories/engine.ts';
import { putRecords } from '../../../testing/factories/ingest-queue.ts';
import { createAudience } from './change-audience.ts';
import { driftOf } from './event-routes.ts';
import { createProject } from '../administration/create-project.ts';
import { listRuleNeeds } from '../rules/runs/rules-in-force.ts';

const clock = fixedClock();
const db = await openTestDatabase(clock);
const engine = openEngine(db, clock);
const dashboard = testDashboard(db);
afterAll(() => dashboard.close());

const DAY = 86_400_000;
const ODD = 'a/b <script>';
let projectId = 0;
beforeEach(async () => {
  clock.advance(DAY);
  projectId = (await createProject(db, { name: 'Acme' })).id;
});

async function happen(name: string, properties: object = {}): Promise<void> {
  await putRecords(db, {
    projectId,
    kind: 'events',
    records: [{ external_user_id: 'ada', name, properties }],
  });
  await engine.settle();
}
const at = (name?: string, rest = ''): string =>
  `/projects/${projectId}/events${name === undefined ? '' : `/${encodeURIComponent(name)}`}${rest}`;
const show = async (name: string): Promise<EventDetails> =>
  (await dashboard.request(`GET ${at(name)}`, { as: 'viewer' })).json.data as EventDetails;

test('lists each event with its volume, first occurrence, properties and uses', async () => {
  await happen('trial_started', { trialDays: 14 });
  clock.advance(DAY);
  await happen(ODD, { x: 1 });
  await happen(ODD, { x: 'one', y: null });
  await createAudience(
    { db, listRuleNeeds },
    { projectId, name: 'Odd', definition: { event: ODD, within: '7d' } },
  );
  const { json } = await dashboard.request(`GET ${at()}`, { as: 'viewer' });
  const [odd, trial] = json.data as EventListed[];
  expect(odd).toMatchObject({
    name: ODD,
    canonical: false,
    count: 2,
    last_30_days: 2,
    expected: null,
    drift: [],
  });
  expect(odd?.days).toHaveLength(30);
  expect(odd?.days.slice(-2)).toEqual([0, 2]);
  expect(odd?.properties).toEqual([
    expect.objectContaining({ property: 'x', types: ['number', 'string'], conflict: true }),
    expect.objectContaining({ property: 'y', types: ['null'], conflict: false }),
  ]);
  expect(odd?.used_by.map(({ kind, name }) => [kind, name])).toEqual([['audience', 'Odd']]);
  expect(trial).toMatchObject({ name: 'trial_started', canonical: true });
  expect(trial?.days.slice(-2)).toEqual([1, 0]);
});

test('shows an event with examples of its newest occurrences', async () => {
  for (const n of [1, 2, 2]) {
    clock.advance(1);
    await happen('login', { n, tags: ['a'] });
  }
  const event = await show('login');
  expect(event.examples).toEqual([
    { property: 'n', values: [2, 1] },
    { property: 'tags', values: [['a']] },
  ]);
  expect(event.newest[0]).toMatchObject({ external_user_id: 'ada', properties: { n: 2, tags: ['a'] } });
  for (const name of ['none', 'nul\0']) expect((await dashboard.request(`GET ${at(name)}`)).status).toBe(404);
});

test('reports drift from the expected shape until the event is marked again', async () => {
  await happen('login', { n: 1 });
  clock.advance(1);
  const mark = (as: 'editor' | 'reviewer' = 'editor') =>
    dashboard.request(`PUT ${at('login', '/expected')}`, { as, body: {} });
  expect((await mark('reviewer')).status).toBe(403);
  expect((await mark()).json.data).toMatchObject({ expected: { by: 'Ada' }, drift: [] });
  clock.advance(1);
  await happen('login', { n: 'one', m: null });
  const since = new Date(clock.now()).toISOString();
  expect((await show('login')).drift).toEqual([
    { kind: 'new_property', property: 'm', since },
    { kind: 'new_type', property: 'n', type: 'string', since },
  ]);
  clock.advance(3 * DAY);
  expect((await show('login')).drift[0]).toMatchObject({ kind: 'stopped', last_at: since });
  await happen('login', { n: 1 });
  await mark();
  expect((await show('login')).drift).toEqual([]);
  const forgotten = await dashboard.request(`DELETE ${at('login', '/expected')}`, { as: 'editor' });
  expect(forgotten.json.data).toMatchObject({ expected: null });
  expect((await dashboard.request(`PUT ${at('none', '/expected')}`, { body: {} })).status).toBe(404);
});

test('shows nothing of it in another project', async () => {
  await happen('login');
  const other = (await createProject(db, { name: 'Other' })).id;
  expect((await dashboard.request(`GET /projects/${other}/events`)).json.data).toEqual([]);
  expect((await dashboard.request(`GET /projects/${other}/events/login`)).status).toBe(404);
});

const NOW = 1_000 * DAY;
const days = (...last: number[]): number[] => [...Array.from({ length: 30 - last.length }, () => 0), ...last];

test('driftOf › reports an event as stopped after a day without it and five times the usual interval', () => {
  const seen = (lastAt: number, counts: number[]) => ({ lastAt, days: counts, properties: [] });
  const hourly = days(...Array.from({ length: 28 }, () => 24));
  expect(driftOf(0, seen(NOW - 0.9 * DAY, [...hourly.slice(1), 0]), NOW)).toEqual([]);
  expect(driftOf(0, seen(NOW - 1.1 * DAY, [...hourly.slice(1), 0]), NOW)[0]).toMatchObject({
    kind: 'stopped',
  });
  const weekly = days(1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0);
  expect(driftOf(0, seen(NOW - 4 * DAY, weekly), NOW)).toEqual([]);
  expect(driftOf(0, seen(NOW - 20 * DAY, days(1)), NOW)).toEqual([]);
});

test('driftOf › reports a later property as new and a new type of an existing one, but not a missing value', () => {
  const types = (...list: [string, number][]) => list.map(([type, firstAt]) => ({ type, firstAt }));
  const properties = [
    { property: 'old', types: types(['string', 1]) },
    { property: 'grown', types: types(['string', 1], ['number', 9]) },
    { property: 'gone', types: types(['string', 1], ['null', 9]) },
    { property: 'new', types: types(['string', 9], ['null', 8]) },
  ];
  expect(driftOf(5, { lastAt: NOW, days: days(1), properties }, NOW)).toEqual([
    { kind: 'new_type', property: 'grown', type: 'number', since: 9 },
    { kind: 'new_property', property: 'new', since: 8 },
  ]);
});
