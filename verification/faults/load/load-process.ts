import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openJournal, type World } from '../journal.ts';
import { pick, randomOf } from '../random.ts';
import { argument, reportReady, readCommands } from '../sinks/commands.ts';
import { type Key, keysOf } from './keys.ts';
import { post } from './post.ts';
import { clashOf, initialUsers, requestOf, type RequestSpec } from './requests.ts';

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
const LAG_MAX_MS = 2_000;
const SHARES = { clash: 0.01, revoked: 0.01 };
const BACKOFF = { firstMs: 100, maxMs: 2_000 };
const ACKNOWLEDGED_MAX = 500;

const state = { next: 0, stopping: false, dueAt: Date.now() };
const acknowledged: RequestSpec[] = [];

type Intent = 'normal' | 'clash' | 'revoked';

/** Retries until a final response. */
async function sendUntilAnswered(spec: RequestSpec, key: Key, firstIntent: Intent): Promise<number> {
  const random = randomOf(spec.request);
  let target = Math.floor(random() * targets.length);
  for (let tries = 0; ; tries += 1) {
    const intent = tries > 0 && firstIntent === 'normal' ? 'retry' : firstIntent;
    const to = targets[target % targets.length] ?? '';
    const result = await post(journal, spec, { key: key.id, secret: key.secret, to, intent });
    if (result && result.status !== 429 && result.status < 500) return result.status;
    target += 1;
    const backoffMs = Math.min(BACKOFF.maxMs, BACKOFF.firstMs * 2 ** tries) * (0.5 + random());
    await pause(Math.max(result?.retryAfterMs ?? 0, backoffMs));
  }
}

async function sendRequest(n: number): Promise<void> {
  const random = randomOf(`${world.seed} choice ${n}`);
  const share = random();
  const spec = requestOf(world, n);
  if (share < SHARES.clash && acknowledged.length > 0) {
    const other = clashOf(pick(acknowledged, random), world);
    await sendUntilAnswered(other, keys.liveKey(other.project, random), 'clash');
    return;
  }
  const revokedKey = share > 1 - SHARES.revoked ? keys.revokedKey(random) : null;
  if (revokedKey) {
    await sendUntilAnswered({ ...spec, project: revokedKey.project }, revokedKey, 'revoked');
    return;
  }
  const status = await sendUntilAnswered(spec, keys.liveKey(spec.project, random), 'normal');
  if (status >= 300) return;
  acknowledged.push(spec);
  if (acknowledged.length > ACKNOWLEDGED_MAX) acknowledged.shift();
}

async function runClient(): Promise<void> {
  while (!state.stopping) {
    const now = Date.now();
    state.dueAt = Math.max(state.dueAt, now - LAG_MAX_MS) + 1_000 / perSecond;
    if (state.dueAt > now) await pause(state.dueAt - now);
    if (state.stopping) return;
    state.next += 1;
    await sendRequest(state.next);
  }
}

/** `stop`, `key <project> <id> <secret>`, `retire <project> <id>`, `revoke <project> <id>`. */
readCommands((line) => {
  const [command, project = '', id = '', secret = ''] = line.split(' ');
  if (command === 'stop') state.stopping = true;
  if (command === 'key') keys.add(project, { id, secret });
  if (command === 'retire') keys.retire(project, id);
  if (command === 'revoke') keys.revoke(project, id);
});
reportReady({ pid: process.pid });
await Promise.all(
  world.projects.map(({ id }) => {
    const random = randomOf(`${world.seed} first key of ${id}`);
    return sendUntilAnswered(initialUsers(world, id), keys.liveKey(id, random), 'normal');
  }),
);
state.dueAt = Date.now();
await Promise.all(Array.from({ length: CLIENTS }, runClient));
process.exit();
