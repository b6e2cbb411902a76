import type { WebhookEvent } from '@beckon/contract';
import { iso } from '../../../platform/time/clock.ts';
import { Fault } from '../../../platform/fault.ts';
import type { NewId } from '../../../platform/ids.ts';
import type { EndpointRef } from '../endpoints/endpoint.ts';
import { listLiveSecrets } from '../endpoints/reads.ts';
import { requireEndpoint } from '../endpoints/require-endpoint.ts';
import { findProject } from '../../workspace/index.ts';
import { insertTest } from '../deliveries/store.ts';
import { messageName, TEST_TYPE, type Test } from '../deliveries/webhook.ts';
import { TRIES_MAX } from '../deliveries/schedule.ts';
import { dueEarlier } from '../../../platform/locks/timers.ts';
import type { Database } from '../../../platform/db/database.ts';
import { post, type PostDeps } from './post.ts';
import { LEASE_MS, type Leaving, runRound } from './round.ts';

export type TestDeps = Omit<PostDeps, 'clock'> & { db: Database; newId: NewId };

/**
 * Sends a webhook of type `test` to this endpoint directly, in this process, so that the answer is visible whether a worker runs or not. It
 * is tried once. Returns the id of the webhook.
 */
export async function testEndpoint(deps: TestDeps, place: EndpointRef): Promise<string> {
  const { db } = deps;
  const leaving = await db.transaction(async (tx): Promise<Leaving> => {
    const { endpoint } = await requireEndpoint(tx, place);
    if (endpoint.disabledAt !== null) throw disabled();
    const now = db.clock.now();
    const { livemode } = await findProject(tx, String(place.projectId));
    const messageId = deps.newId();
    const test: Test = {
      ...place,
      messageId,
      number: 1,
      tries: TRIES_MAX,
      url: endpoint.url,
      body: bodyOf({ messageId, now, livemode }),
      now,
      leaseUntil: now + LEASE_MS,
    };
    await insertTest(tx, test);
    await dueEarlier(tx, 'webhooks', [{ projectId: place.projectId, nextAt: new Date(test.leaseUntil) }]);
    return { ...test, secrets: await listLiveSecrets(tx, { places: [place], now }) };
  });
  const answer = await post({ ...deps, clock: db.clock }, leaving);
  await runRound(db, { answered: [{ delivery: leaving, answer }], projectIds: [], room: 0 });
  return leaving.messageId;
}

function bodyOf({ messageId, now, livemode }: { messageId: string; now: number; livemode: boolean }): string {
  const data = { message: 'This is a test event' };
  const id = messageName(messageId);
  const event: WebhookEvent<'test'> = { id, type: TEST_TYPE, timestamp: iso(now), livemode, data };
  return JSON.stringify(event);
}

function disabled(): Fault {
  const message = 'This endpoint is disabled. Enable it with: beckon webhooks enable <endpoint>';
  return new Fault('conflict', { details: [{ message, field: 'endpoint' }] });
}
