import type { WebhookEvent } from '@beckon/contract';
import { iso } from '../../../platform/time/clock.ts';
import { Fault } from '../../../platform/fault.ts';
import type { NewId } from '../../../platform/ids.ts';
import type { EndpointRef } from '../endpoints/endpoint.ts';
import { listLiveSecrets } from '../endpoints/reads.ts';
import { requireEndpoint } from '../endpoints/require-endpoint.ts';
import { findProject } from '../../workspace/index.ts';
import { insertTest } from '../deliveries/store.ts';
import { webhookName, TEST_TYPE, type Test } from '../deliveries/webhook.ts';
import { TRIES_MAX } from '../deliveries/schedule.ts';
import { setTimersEarlier } from '../../../platform/locks/timers.ts';
import type { Database } from '../../../platform/db/database.ts';
import { post, type PostDeps } from './post.ts';
import { LEASE_MS, type OutgoingDelivery, runRound } from './round.ts';

export type TestDeps = Omit<PostDeps, 'clock'> & { db: Database; newId: NewId };

/**
 * Sends a webhook of type `test` to this endpoint directly, in this process, so that the answer is visible whether a worker runs or not. It
 * is tried once. Returns the id of the webhook.
 */
export async function testEndpoint(deps: TestDeps, key: EndpointRef): Promise<string> {
  const { db } = deps;
  const delivery = await db.transaction(async (tx): Promise<OutgoingDelivery> => {
    const { endpoint } = await requireEndpoint(tx, key);
    if (endpoint.disabledAt !== null) throw disabled();
    const now = db.clock.now();
    const { livemode } = await findProject(tx, String(key.projectId));
    const webhookId = deps.newId();
    const test: Test = {
      ...key,
      webhookId,
      number: 1,
      tries: TRIES_MAX,
      url: endpoint.url,
      body: bodyOf({ webhookId, now, livemode }),
      now,
      leaseUntil: now + LEASE_MS,
    };
    await insertTest(tx, test);
    await setTimersEarlier(tx, 'webhooks', [{ projectId: key.projectId, nextAt: new Date(test.leaseUntil) }]);
    return { ...test, secrets: await listLiveSecrets(tx, { keys: [key], now }) };
  });
  const result = await post({ ...deps, clock: db.clock }, delivery);
  await runRound(db, { attempts: [{ delivery: delivery, result }], projectIds: [], capacity: 0 });
  return delivery.webhookId;
}

function bodyOf({ webhookId, now, livemode }: { webhookId: string; now: number; livemode: boolean }): string {
  const data = { message: 'This is a test event' };
  const id = webhookName(webhookId);
  const event: WebhookEvent<'test'> = { id, type: TEST_TYPE, timestamp: iso(now), livemode, data };
  return JSON.stringify(event);
}

function disabled(): Fault {
  const message = 'This endpoint is disabled. Enable it with: beckon webhooks enable <endpoint>';
  return new Fault('conflict', { details: [{ message, field: 'endpoint' }] });
}
