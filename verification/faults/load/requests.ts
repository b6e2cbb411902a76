import { createHash } from 'node:crypto';
import type { EventInput, UserInput } from '@beckon/contract';
import type { World } from '../journal.ts';
import { between, pick, type Random, randomOf } from '../random.ts';

/** One logical write: all its attempts share its Idempotency-Key and its bytes. */
export type Wanted = {
  request: string;
  project: string;
  path: string;
  idempotencyKey: string;
  body: string;
  records: number;
};

export const PEOPLE = 300;
const ORDERED = 'order_placed';
const NAMES = ['feature_used', 'report_exported', 'invoice_paid', 'page_viewed'];
const PLANS = ['free', 'trial', 'pro', 'team'];

/** Shares of requests. The rest are bulk requests. */
const SHARES = { single: 0.45, batch: 0.47 };
const SINGLE_USERS = 0.35;
/** The share of single events that cause an email. */
const ORDERS = 0.42;
/** The share of events that repeat an earlier one under its id. */
const COPIES = 0.01;
const BATCH_MOST = 12;
const BULK_MOST = 60;

/** Returns the n-th request of a run: the same for the same seed, whatever happened before. */
export function requestOf(world: World, n: number): Wanted {
  const random = randomOf(`${world.seed} request ${n}`);
  const project = pick(world.projects, random).id;
  const share = random();
  const kind = share < SHARES.single ? 'single' : share < SHARES.single + SHARES.batch ? 'batch' : 'bulk';
  return { ...contentOf(kind, { project, n, random }), ...namesOf(world, `request ${n}`), project };
}

/** Returns the request that creates all users of a project before any events about them. */
export function introduction(world: World, project: string): Wanted {
  const random = randomOf(`${world.seed} people of ${project}`);
  const users = Array.from({ length: PEOPLE }, (_, n) => userOf(project, { who: n, n: -1, random }));
  return {
    ...many('/api/v1/users/bulk', 'users', users),
    ...namesOf(world, `people of ${project}`),
    project,
  };
}

/** Returns another body under the key of this request. */
export function clashOf(wanted: Wanted, world: World): Wanted {
  const event: EventInput = { external_user_id: 'u0', name: 'clash', message_id: `clash ${wanted.request}` };
  const { request } = namesOf(world, `clash of ${wanted.request}`);
  return { ...wanted, request, path: '/api/v1/events', body: JSON.stringify(event), records: 1 };
}

function namesOf(world: World, of: string): Pick<Wanted, 'request' | 'idempotencyKey'> {
  const bytes = createHash('sha256').update(`${world.seed} ${of}`).digest('hex');
  const request = bytes.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-4$3-a$4-$5');
  return { request, idempotencyKey: `key-${bytes.slice(0, 32)}` };
}

type Making = { project: string; n: number; random: Random };
type Content = Pick<Wanted, 'path' | 'body' | 'records'>;

function contentOf(kind: 'single' | 'batch' | 'bulk', making: Making): Content {
  const { random } = making;
  if (kind === 'single') {
    const isUser = random() < SINGLE_USERS;
    const record = isUser ? anyUser(making) : eventOf(making, 0);
    return { path: isUser ? '/api/v1/users' : '/api/v1/events', body: JSON.stringify(record), records: 1 };
  }
  if (kind === 'batch') {
    const events = Array.from({ length: between(2, BATCH_MOST, random) }, (_, place) =>
      eventOf(making, place),
    );
    return many('/api/v1/events/batch', 'events', events);
  }
  const count = between(10, BULK_MOST, random);
  if (random() < 0.5)
    return many(
      '/api/v1/users/bulk',
      'users',
      Array.from({ length: count }, () => anyUser(making)),
    );
  return many(
    '/api/v1/events/bulk',
    'events',
    Array.from({ length: count }, (_, place) => eventOf(making, place)),
  );
}

function many(path: string, list: 'users' | 'events', records: (UserInput | EventInput)[]): Content {
  return { path, body: JSON.stringify({ [list]: records }), records: records.length };
}

function anyUser(making: Making): UserInput {
  return userOf(making.project, { ...making, who: between(0, PEOPLE - 1, making.random) });
}

type Whom = { who: number; n: number; random: Random };

function userOf(project: string, { who, n, random }: Whom): UserInput {
  const traits: Record<string, string | number | null> = {
    plan: pick(PLANS, random),
    [`field${between(0, 4, random)}`]: n,
    // Occasionally a field is removed again.
    [`field${between(5, 6, random)}`]: random() < 0.3 ? null : n,
  };
  return { external_user_id: `u${who}`, email: `u${who}@p${project}.test`, traits };
}

function eventOf({ n, random, ...making }: Making, place: number): EventInput {
  const who = between(0, PEOPLE - 1, random);
  const isOrder = place === 0 && random() < ORDERS;
  const copies = random() < COPIES && n > 0;
  const id = copies ? `copied ${making.project} ${between(0, 20, random)}` : `${n} ${place}`;
  return {
    external_user_id: copies ? 'u0' : `u${who}`,
    name: isOrder && !copies ? ORDERED : copies ? 'copied' : pick(NAMES, random),
    properties: isOrder && !copies ? { order: n } : { amount: between(1, 100, random) },
    message_id: id,
  };
}
