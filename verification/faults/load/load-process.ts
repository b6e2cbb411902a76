import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openJournal, type World } from '../journal.ts';
import { pick, randomOf } from '../random.ts';
import { argument, sayReady, takeOrders } from '../sinks/orders.ts';
import { type Key, keysOf } from './keys.ts';
import { post } from './post.ts';
import { clashOf, introduction, requestOf, type Wanted } from './requests.ts';

/**
 * The clients: they send a fixed number of requests per second while the run continues. Each request is journaled before it is sent, and
 * retried with its key at the other API process until it is answered. The process exits when it is stopped and all requests are answered.
 */
const dir = argument('DIR');
const world = JSON.parse(readFileSync(join(dir, 'world.json'), 'utf8')) as World;
const targets = argument('TARGETS').split(',');
const perSecond = Number(argument('PER_SECOND'));
const journal = openJournal(dir, 'load');
const keys = keysOf(world);

const CLIENTS = 24;
/** If the load is further behind its plan than this, the plan waits, so that a blocked client does not send everything at once. */
const BEHIND_MOST_MS = 2_000;
const SHARES = { clash: 0.01, revoked: 0.01 };
const AGAIN = { firstMs: 100, mostMs: 2_000 };
const REMEMBERED = 500;

const state = { next: 0, stopping: false, dueAt: Date.now() };
const acknowledged: Wanted[] = [];

type Intent = 'normal' | 'clash' | 'revoked';

/** Retries until a final response. */
async function insist(wanted: Wanted, key: Key, first: Intent): Promise<number> {
  const random = randomOf(wanted.request);
  let target = Math.floor(random() * targets.length);
  for (let tries = 0; ; tries += 1) {
    const intent = tries > 0 && first === 'normal' ? 'retry' : first;
    const to = targets[target % targets.length] ?? '';
    const heard = await post(journal, wanted, { key: key.id, secret: key.secret, to, intent });
    if (heard && heard.status !== 429 && heard.status < 500) return heard.status;
    target += 1;
    const backoffMs = Math.min(AGAIN.mostMs, AGAIN.firstMs * 2 ** tries) * (0.5 + random());
    await pause(Math.max(heard?.retryAfterMs ?? 0, backoffMs));
  }
}

async function one(n: number): Promise<void> {
  const random = randomOf(`${world.seed} choice ${n}`);
  const share = random();
  const wanted = requestOf(world, n);
  if (share < SHARES.clash && acknowledged.length > 0) {
    const other = clashOf(pick(acknowledged, random), world);
    await insist(other, keys.one(other.project, random), 'clash');
    return;
  }
  const gone = share > 1 - SHARES.revoked ? keys.revoked(random) : null;
  if (gone) {
    await insist({ ...wanted, project: gone.project }, gone, 'revoked');
    return;
  }
  const status = await insist(wanted, keys.one(wanted.project, random), 'normal');
  if (status >= 300) return;
  acknowledged.push(wanted);
  if (acknowledged.length > REMEMBERED) acknowledged.shift();
}

async function client(): Promise<void> {
  while (!state.stopping) {
    const now = Date.now();
    state.dueAt = Math.max(state.dueAt, now - BEHIND_MOST_MS) + 1_000 / perSecond;
    if (state.dueAt > now) await pause(state.dueAt - now);
    if (state.stopping) return;
    state.next += 1;
    await one(state.next);
  }
}

/** `stop`, `key <project> <id> <secret>`, `retire <project> <id>`, `revoke <project> <id>`. */
takeOrders((order) => {
  const [what, project = '', id = '', secret = ''] = order.split(' ');
  if (what === 'stop') state.stopping = true;
  if (what === 'key') keys.add(project, { id, secret });
  if (what === 'retire') keys.retire(project, id);
  if (what === 'revoke') keys.revoke(project, id);
});
sayReady({ pid: process.pid });
await Promise.all(
  world.projects.map(({ id }) => {
    const random = randomOf(`${world.seed} first key of ${id}`);
    return insist(introduction(world, id), keys.one(id, random), 'normal');
  }),
);
state.dueAt = Date.now();
await Promise.all(Array.from({ length: CLIENTS }, client));
process.exit();
