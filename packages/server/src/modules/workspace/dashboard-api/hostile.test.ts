import { expect, test } from 'vitest';
import { openStage, newScenario } from '../../../../testing/scenario.ts';
import { testTeam } from '../../../../testing/factories/team.ts';
import { DASHBOARD_ROUTES } from '../../../main/dashboard-routes.ts';

const stage = await openStage();
const scenario = await newScenario(stage);
const other = await newScenario(stage);
const rule = {
  name: 'greeter',
  when: { event: 'hello' },
  mode: 'draft',
  deadline: '1h',
  steps: [{ draft: { subject: 'Hello', body: 'You' } }],
};
for (const target of [scenario, other]) {
  await target.set({ sender_address: 'hello@acme.test', sender_name: 'Acme' }).catch(() => {});
  await target.user('ada', { email: 'ada@x.org', traits: { plan: 'trial' } });
  await target.rule(rule);
  await target.event('ada', 'hello');
  await target.later(5_000);
}
const { setUp } = testTeam(stage.server);
const { ada } = await setUp();

const HOSTILE = [
  '\0',
  '\uD800',
  "'; DROP TABLE beckon.project; --",
  '../../etc/passwd',
  '99999999999999999999',
  '99999999999',
  '-1',
  '1e309',
  '00000000-0000-0000-0000-000000000000',
  '__proto__',
  'constructor',
  '%',
  '\\',
  'x'.repeat(900),
  '🐣',
  '{{ 7 | times: 7 }}',
  '(((((',
  'a:b c:d -e:"f',
  '9999-12-31T23:59:59-14:59',
  '0001-01-01T00:00:00+14:59',
  'seen:>9999-12-31',
];
const encoded = HOSTILE.map((value) => (value === '\uD800' ? '%ED%A0%80' : encodeURIComponent(value)));

/** The feed has no end, and has a test of its own. */
const routes = DASHBOARD_ROUTES.filter(({ key }) => key !== 'GET /projects/:project/feed');
type Schema = { properties?: Record<string, unknown> } | undefined;
const namesOf = (schema: unknown): string[] => Object.keys((schema as Schema)?.properties ?? {});

async function fives(requests: { key: string; what: string; body?: unknown }[]): Promise<string[]> {
  const wrong: string[] = [];
  for (const { key, what, body } of requests) {
    const { status, text } = await ada
      .request(what, body)
      .catch((error: unknown) => ({ status: 599, text: String(error) }));
    if (status >= 500)
      wrong.push(
        `${key} ${status}: ${what.slice(0, 120)} ${JSON.stringify(body)?.slice(0, 80)} ${text.slice(0, 200)}`,
      );
  }
  return wrong;
}

const fill = (key: string, value: string): string =>
  key.replace(':project', String(scenario.projectId)).replaceAll(/:\w+/g, value);

/** Existing ids, so that the checks behind the lookup run too. */
const THERE = new Map([
  ['rule', 'greeter'],
  ['draft', (await scenario.drafts('ada'))[0]?.id],
  ['import', await newId('imports', { kind: 'users', name: 'a.csv', size_bytes: 10 })],
  ['endpoint', await newId('webhooks', { url: 'https://hooks.acme.test/in' })],
  ['audience', await newId('audiences', { name: 'Trials', definition: { trait: 'plan', equals: 'trial' } })],
]);
const fillThere = (key: string): string =>
  key
    .replace(':project', String(scenario.projectId))
    .replaceAll(/:(\w+)/g, (_, name: string) => THERE.get(name) ?? 'ada');

async function newId(list: string, body: object): Promise<string> {
  const { json, text } = await ada.request(`POST /projects/${scenario.projectId}/${list}`, body);
  const { id } = (json.data ?? {}) as { id?: string };
  if (id === undefined) throw new Error(text);
  return id;
}

test('answers any value in a path or query', async () => {
  const reads = routes.filter(({ key }) => key.startsWith('GET '));
  const inPath = routes
    .filter(({ key }) => key.replace(':project', '').includes(':'))
    .flatMap(({ key }) =>
      encoded.map((value) => ({
        key,
        what: fill(key, value),
        ...(key.startsWith('GET ') ? {} : { body: {} }),
      })),
    );
  const inQuery = reads.flatMap(({ key, query }) =>
    namesOf(query).flatMap((name) =>
      encoded.map((value) => ({ key, what: `${fillThere(key)}?${name}=${value}` })),
    ),
  );
  expect(await fives([...inPath, ...inQuery])).toEqual([]);
}, 600_000);

test('answers any invalid cursor', async () => {
  const lists = routes.filter(({ query }) => namesOf(query).includes('cursor'));
  const cursors = ['\0', '\uD800', 'ada', '-1', '99999999999999999999', 'infinity', '1e309'].flatMap((part) =>
    [1, 2, 3, 4].map((parts) =>
      Buffer.from(JSON.stringify(Array.from({ length: parts }, () => part))).toString('base64url'),
    ),
  );
  const requests = lists.flatMap(({ key }) =>
    cursors.map((cursor) => ({ key, what: `${fillThere(key)}?cursor=${cursor}` })),
  );
  expect(requests.length).toBeGreaterThan(cursors.length * 10);
  expect(await fives(requests)).toEqual([]);
}, 600_000);

test('rejects NUL in the text of a draft action, and audits nothing', async () => {
  const [draft] = await scenario.drafts('ada');
  const path = `/projects/${scenario.projectId}`;
  const reason = 'not \0 them';
  const { status, json } = await ada.request(`POST ${path}/drafts/${draft?.id}/skip`, { reason });
  expect([status, json?.errors[0]?.code]).toEqual([422, 'validation_failed']);
  const audit = await ada.request(`GET ${path}/audit`);
  expect(audit.text).not.toContain('draft.skip');
});

const AN_ID = '00000000-0000-7000-8000-000000000000';
/** Parts of a cursor that are valid each on its own. */
const PARTS = ['0', '1', '9'.repeat(15), AN_ID, '-'.repeat(36), 'email', ''];

test('answers a cursor of parts that are valid each on its own', async () => {
  const lists = routes.filter(({ query }) => namesOf(query).includes('cursor'));
  const singles = PARTS.map((part) => [part]);
  const two = singles.flatMap((parts) => PARTS.map((part) => [...parts, part]));
  const three = ['0', '1'].flatMap((few) =>
    PARTS.flatMap((part) => [
      [few, part, AN_ID],
      [part, AN_ID, few],
      [part, AN_ID, AN_ID],
    ]),
  );
  const cursors = [...singles, ...two, ...three].map((parts) =>
    Buffer.from(JSON.stringify(parts)).toString('base64url'),
  );
  const requests = lists.flatMap(({ key }) =>
    cursors.map((cursor) => ({ key, what: `${fillThere(key)}?cursor=${cursor}` })),
  );
  expect(await fives(requests)).toEqual([]);
}, 600_000);

const deep = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));
const ODD = [
  null,
  '',
  '\0',
  '\uD800',
  1e308,
  [1e308],
  -1,
  0.5,
  true,
  [],
  {},
  [[]],
  deep(5_000),
  { __proto__x: 1 },
  'x'.repeat(100_000),
];

test('answers any value in a body', async () => {
  const changes = routes.filter(
    ({ key, body }) =>
      !key.startsWith('GET ') &&
      namesOf(body).length > 0 &&
      !/^POST .(sign|setup|reset|forgot|password|two-f|passk|invites)/.test(key),
  );
  const requests = changes.flatMap(({ key, body }) =>
    namesOf(body).flatMap((name) =>
      ODD.map((value) => ({ key, what: fillThere(key), body: { ...minimal(body), [name]: value } })),
    ),
  );
  expect(await fives(requests)).toEqual([]);
}, 600_000);

/** Times outside the range of a row, a Date or the database. */
const NUMBERS = [9e15, 8.64e15, -8.64e15, 999_999_999_999_999, 2 ** 53, 0.5, -1];
const NO_ID = '00000000-0000-0000-0000-000000000000';

test('answers a cursor of numbers that are not valid times', async () => {
  const lists = routes.filter(({ query }) => namesOf(query).includes('cursor'));
  const cursors = NUMBERS.flatMap((number) => {
    const parts = [number, String(number), NO_ID];
    const pairs = parts.flatMap((first) => parts.map((two) => [first, two]));
    const tuples = [...parts.map((part) => [part]), ...pairs, ...pairs.map((pair) => [...pair, NO_ID])];
    return tuples.map((tuple) => JSON.stringify(tuple));
  });
  const ofStream = `zzzzzzzzz.${'f'.repeat(32)}`;
  const requests = lists.flatMap(({ key }) =>
    [ofStream, ...cursors].map((cursor) => ({
      key,
      what: `${fill(key, 'ada')}?cursor=${Buffer.from(cursor).toString('base64url')}`,
    })),
  );
  expect(requests.length).toBeGreaterThan(cursors.length * 10);
  expect(await fives(requests)).toEqual([]);
}, 600_000);

type Shape = {
  required?: string[];
  properties?: Record<string, Shape>;
  type?: string;
  const?: unknown;
  anyOf?: Shape[];
  enum?: unknown[];
  items?: Shape;
  minItems?: number;
  minLength?: number;
};
function minimal(schema: unknown): Record<string, unknown> {
  const { required = [], properties = {} } = schema as Shape;
  return Object.fromEntries(required.map((name) => [name, valueOf(properties[name] ?? {})]));
}
const SIMPLE: Record<string, unknown> = { boolean: true, integer: 1, number: 1 };

function itemsOf({ minItems = 0, items = {} }: Shape): unknown[] {
  return minItems > 0 ? [valueOf(items)] : [];
}

function valueOf(shape: Shape): unknown {
  const { anyOf: [alternative] = [], enum: [word] = [], type = '' } = shape;
  const constant = shape.const ?? word;
  if (constant !== undefined) return constant;
  if (alternative) return valueOf(alternative);
  if (type === 'object') return minimal(shape);
  return type === 'array' ? itemsOf(shape) : (SIMPLE[type] ?? 'ada');
}
