import { createHash } from 'node:crypto';
import type { EventInput, UserInput } from '@beckon/contract';
import type { World } from '../journal.ts';
import { between, pick, type Random, randomOf } from '../random.ts';

/** One logical write: all its attempts share its Idempotency-Key and its bytes. */
export type RequestSpec = {
  request: string;
  project: string;
  path: string;
  idempotencyKey: string;
  body: string;
  records: number;
};

export const USERS_PER_PROJECT = 300;
const ORDER_EVENT = 'order_placed';
const NAMES = ['feature_used', 'report_exported', 'invoice_paid', 'page_viewed'];
const PLANS = ['free', 'trial', 'pro', 'team'];

/** Shares of requests. The rest are bulk requests. */
const SHARES = { single: 0.45, batch: 0.47 };
const USER_SHARE = 0.35;
/** The share of single events that cause an email. */
const ORDER_SHARE = 0.42;
/** The share of events that repeat an earlier one under its id. */
const COPY_SHARE = 0.01;
const BATCH_MAX = 12;
const BULK_MAX = 60;

/** Returns the n-th request of a run: the same for the same seed, whatever happened before. */
export function requestOf(world: World, n: number): RequestSpec {
  const random = randomOf(`${world.seed} request ${n}`);
  const project = pick(world.projects, random).id;
  const share = random();
  const kind = share < SHARES.single ? 'single' : share < SHARES.single + SHARES.batch ? 'batch' : 'bulk';
  return { ...contentOf(kind, { project, n, random }), ...idsOf(world, `request ${n}`), project };
}

/** Returns the request that creates all users of a project before any events about them. */
export function initialUsers(world: World, project: string): RequestSpec {
  const random = randomOf(`${world.seed} people of ${project}`);
  const users = Array.from({ length: USERS_PER_PROJECT }, (_, n) =>
    userOf(project, { userNumber: n, n: -1, random }),
  );
  return {
    ...bulkContent('/api/v1/users/bulk', 'users', users),
    ...idsOf(world, `people of ${project}`),
    project,
  };
}

/** Returns another body under the key of this request. */
export function clashOf(spec: RequestSpec, world: World): RequestSpec {
  const event: EventInput = { external_user_id: 'u0', name: 'clash', message_id: `clash ${spec.request}` };
  const { request } = idsOf(world, `clash of ${spec.request}`);
  return { ...spec, request, path: '/api/v1/events', body: JSON.stringify(event), records: 1 };
}

function idsOf(world: World, label: string): Pick<RequestSpec, 'request' | 'idempotencyKey'> {
  const bytes = createHash('sha256').update(`${world.seed} ${label}`).digest('hex');
  const request = bytes.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-4$3-a$4-$5');
  return { request, idempotencyKey: `key-${bytes.slice(0, 32)}` };
}

type RecordContext = { project: string; n: number; random: Random };
type Content = Pick<RequestSpec, 'path' | 'body' | 'records'>;

function contentOf(kind: 'single' | 'batch' | 'bulk', context: RecordContext): Content {
  const { random } = context;
  if (kind === 'single') {
    const isUser = random() < USER_SHARE;
    const record = isUser ? randomUser(context) : eventOf(context, 0);
    return { path: isUser ? '/api/v1/users' : '/api/v1/events', body: JSON.stringify(record), records: 1 };
  }
  if (kind === 'batch') {
    const events = Array.from({ length: between(2, BATCH_MAX, random) }, (_, index) =>
      eventOf(context, index),
    );
    return bulkContent('/api/v1/events/batch', 'events', events);
  }
  const count = between(10, BULK_MAX, random);
  if (random() < 0.5)
    return bulkContent(
      '/api/v1/users/bulk',
      'users',
      Array.from({ length: count }, () => randomUser(context)),
    );
  return bulkContent(
    '/api/v1/events/bulk',
    'events',
    Array.from({ length: count }, (_, index) => eventOf(context, index)),
  );
}

function bulkContent(path: string, list: 'users' | 'events', records: (UserInput | EventInput)[]): Content {
  return { path, body: JSON.stringify({ [list]: records }), records: records.length };
}

function randomUser(context: RecordContext): UserInput {
  return userOf(context.project, {
    ...context,
    userNumber: between(0, USERS_PER_PROJECT - 1, context.random),
  });
}

type UserOptions = { userNumber: number; n: number; random: Random };

function userOf(project: string, { userNumber, n, random }: UserOptions): UserInput {
  const traits: Record<string, string | number | null> = {
    plan: pick(PLANS, random),
    [`field${between(0, 4, random)}`]: n,
    // Occasionally a field is removed again.
    [`field${between(5, 6, random)}`]: random() < 0.3 ? null : n,
  };
  return { external_user_id: `u${userNumber}`, email: `u${userNumber}@p${project}.test`, traits };
}

function eventOf({ n, random, ...context }: RecordContext, index: number): EventInput {
  const userNumber = between(0, USERS_PER_PROJECT - 1, random);
  const isOrder = index === 0 && random() < ORDER_SHARE;
  const isCopy = random() < COPY_SHARE && n > 0;
  const id = isCopy ? `copied ${context.project} ${between(0, 20, random)}` : `${n} ${index}`;
  return {
    external_user_id: isCopy ? 'u0' : `u${userNumber}`,
    name: isOrder && !isCopy ? ORDER_EVENT : isCopy ? 'copied' : pick(NAMES, random),
    properties: isOrder && !isCopy ? { order: n } : { amount: between(1, 100, random) },
    message_id: id,
  };
}
