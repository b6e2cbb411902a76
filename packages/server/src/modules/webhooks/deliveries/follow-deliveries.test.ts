import { afterAll, beforeEach, expect, test } from 'vitest';
import { webhookStage } from '../../../../testing/factories/webhook-stage.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { eraseWebhooks } from './store.ts';
import { followWebhooks, formatMessageCursor, readMessageCursor } from './follow-deliveries.ts';
import type { FollowedWebhook } from './webhook.ts';

const stage = await webhookStage();
const { db, clock } = stage;
afterAll(() => stage.close());
let projectId = 0;
beforeEach(async () => {
  projectId = await stage.project();
});

type FollowerOptions = { since?: number | { createdAt: number; id: string }; tx?: Tx };

function startFollowing({ since = clock.now(), tx = db }: FollowerOptions = {}) {
  const stopped = new AbortController();
  let resume = (): void => {};
  let asleep = Promise.withResolvers<void>();
  const had: FollowedWebhook[] = [];
  const failures: unknown[] = [];
  const finished = (async () => {
    const followed = followWebhooks({
      db: { ...tx, clock },
      projectId,
      since,
      signal: stopped.signal,
      onFailure: (error) => failures.push(error),
      wake: (_ms, signal) =>
        new Promise((resolve) => {
          resume = resolve;
          signal.addEventListener('abort', () => resolve());
          asleep.resolve();
        }),
    });
    for await (const messages of followed) had.push(...messages);
  })();
  return {
    had,
    troubles: failures,
    ids: (): string[] => had.map(({ id }) => id),
    /** Starts one more look, and waits until it is done. */
    async look() {
      await asleep.promise;
      asleep = Promise.withResolvers();
      resume();
      await asleep.promise;
    },
    stop() {
      stopped.abort();
      return finished;
    },
  };
}

test('yields each webhook event once, in order and byte for byte, even without an endpoint', async () => {
  await stage.queue(projectId);
  clock.advance(1);
  const follower = startFollowing();
  const expected: string[] = [];
  for (let i = 0; i < 15; i += 1) {
    clock.advance(700);
    // Events of one time are in the order of their ids.
    expected.push(...(await stage.queue(projectId, (i % 3) + 1)).toSorted());
    await follower.look();
    expect(follower.ids()).toEqual(expected);
  }
  const stored = await db.query<{ id: string; body: string; type: string }>(
    'SELECT id, type, body FROM beckon.webhook WHERE project_id = $1',
    [projectId],
  );
  const bodies = new Map(stored.map(({ id, ...rest }) => [id, rest]));
  for (const { id, type, body } of follower.had) expect({ type, body }).toEqual(bodies.get(id));
  expect(await stage.deliveries(projectId)).toEqual([]);
  await follower.stop();
});

test('misses neither late commits nor more events of one time than fit on a page', async () => {
  const follower = startFollowing();
  const late = Promise.withResolvers<void>();
  const dated = Promise.withResolvers<void>();
  const at = clock.now();
  const id = stage.newId();
  const lateMessage = db.transaction(async (tx) => {
    await tx.query(
      `INSERT INTO beckon.webhook (project_id, id, type, body, created_at) VALUES ($1, $2, 'email.opened', '{}', $3)`,
      [projectId, id, new Date(at)],
    );
    dated.resolve();
    await late.promise;
  });
  await dated.promise;
  clock.advance(1_000);
  const expected = await stage.queue(projectId, 450);
  await follower.look();
  expect(follower.ids().toSorted()).toEqual(expected.toSorted());
  clock.advance(3_000);
  late.resolve();
  await lateMessage;
  await follower.look();
  expect(follower.ids().toSorted()).toEqual([...expected, id].toSorted());
  clock.advance(60_000);
  await follower.look();
  await follower.look();
  expect(follower.had).toHaveLength(451);
  await follower.stop();
});

test('resumes at the last received event, and repeats a few seconds', async () => {
  const ids: string[] = [];
  const since = clock.now();
  for (let i = 0; i < 8; i += 1) {
    ids.push(...(await stage.queue(projectId)));
    clock.advance(2_000);
  }
  const first = startFollowing({ since });
  await first.look();
  await first.stop();
  expect(first.ids()).toEqual(ids);
  const cursor = readMessageCursor(formatMessageCursor(first.had[6] ?? { createdAt: 0, id: '' }));
  const second = startFollowing({ since: cursor });
  await second.look();
  expect(second.ids()).toEqual(ids.slice(4));
  await second.stop();
  for (const wrong of ['', 'x', '1768478400000-', `1768478400000-${ids[0]}x`, `99999999999999999-${ids[0]}`])
    expect(() => readMessageCursor(wrong)).toThrow('Last-Event-ID');
});

test('omits erased events, those of other projects, and tests of a single endpoint', async () => {
  const other = await stage.project();
  await stage.queue(other);
  await stage.queue(projectId, 1, { userId: 'gone' });
  await stage.queue(projectId, 1, { type: 'test' });
  await eraseWebhooks(db, { projectId, userId: 'gone', at: clock.now() });
  const [left] = await stage.queue(projectId, 1, { userId: 'ada' });
  const follower = startFollowing({ since: clock.now() - 1 });
  await follower.look();
  expect(follower.ids()).toEqual([left]);
  await follower.stop();
});

test('retries if the database does not answer, and misses nothing', async () => {
  let isBroken = true;
  const tx: Tx = {
    prepared: (query) => db.prepared(query),
    query: (text, values) => (isBroken ? Promise.reject(new Error('gone')) : db.query(text, values)),
  };
  const follower = startFollowing({ tx });
  const [id] = await stage.queue(projectId);
  await follower.look();
  expect(follower.troubles.length).toBeGreaterThan(0);
  isBroken = false;
  clock.advance(30_000);
  await follower.look();
  expect(follower.ids()).toEqual([id]);
  await follower.stop();
});
