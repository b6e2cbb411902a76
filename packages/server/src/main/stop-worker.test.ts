import { afterAll, beforeEach, expect, test } from 'vitest';
import { HOUR } from '../../testing/factories/drafts.ts';
import { openEngine, type TestTransport, testTransport } from '../../testing/factories/engine.ts';
import { putRecords } from '../../testing/factories/ingest-queue.ts';
import { type TestServer, testServer } from '../../testing/servers/server.ts';
import { webhookStage } from '../../testing/factories/webhook-stage.ts';
import { createRule } from '../modules/rules/write-rule.ts';
import { setSettings } from '../modules/administration/set-settings.ts';
import type { Outbound } from '../platform/outbound/outbound.ts';

/** A worker whose relay and endpoints answer on request. */
const stage = await webhookStage();
const { db, clock } = stage;
const engine = openEngine(db, clock);
afterAll(() => stage.close());

type Late = { started: Promise<void>; goOn: () => void };
let projectId = 0;
beforeEach(async () => {
  await stage.forget();
  projectId = await stage.project();
  const never = { quiet_hours: 'off', frequency_cap: 'off', throttle: 'off' };
  await setSettings(db, projectId, { autopilot: '1h', ...never });
  const document = { name: 'hello', when: { event: 'hello' }, deadline: '1h', steps: [{ draft: 'welcome' }] };
  await createRule(db, { projectId, document });
});

/** Creates drafts that are due. */
async function dueDrafts(count: number): Promise<void> {
  const ids = Array.from({ length: count }, (_, n) => `u${n}`);
  const users = ids.map((id) => ({ external_user_id: id, email: `${id}@x.org` }));
  await putRecords(db, { projectId, kind: 'users', records: users });
  const events = ids.map((id) => ({ external_user_id: id, name: 'hello', properties: {} }));
  await putRecords(db, { projectId, kind: 'events', records: events });
  await engine.settle();
  clock.advance(HOUR);
}

async function draftStates(): Promise<string[]> {
  const rows = await db.query<{ state: string }>(`SELECT state FROM beckon.draft WHERE project_id = $1`, [
    projectId,
  ]);
  return rows.map(({ state }) => state).toSorted();
}

function lateRelay(): TestTransport & Late {
  const [started, finish] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const transport = testTransport(1);
  transport.setResult(async () => {
    started.resolve();
    await finish.promise;
    return { result: 'sent' };
  });
  return { ...transport, started: started.promise, goOn: finish.resolve };
}

function lateOutbound(): Outbound & Late {
  const [started, finish] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  return {
    ...stage.outbound,
    async post(request) {
      started.resolve();
      await finish.promise;
      return stage.outbound.post(request);
    },
    close: () => {},
    started: started.promise,
    goOn: finish.resolve,
  };
}

function startWorkerServer(transport: TestTransport, outbound: Outbound): Promise<TestServer> {
  const more = { openOutbound: () => outbound };
  return testServer({ database: stage.database, clock, roles: ['worker'], transport, more });
}

test('a stopping sender returns unsent drafts before a slow endpoint answers, and none becomes unknown', async () => {
  await dueDrafts(3);
  await stage.endpoint(projectId, '/late');
  await stage.queue(projectId);
  const [relay, outbound] = [lateRelay(), lateOutbound()];
  const server = await startWorkerServer(relay, outbound);
  await Promise.all([relay.started, outbound.started]);
  await expect.poll(draftStates).toEqual(['sending', 'sending', 'sending']);
  const stopped = server.stop();
  relay.goOn();
  await expect.poll(draftStates).not.toContain('sending');
  outbound.goOn();
  await stopped;
  expect(relay.emails).toHaveLength(1);
  const states = await draftStates();
  expect(states.filter((state) => state === 'sent')).toHaveLength(1);
  expect(states).not.toContain('unknown');
  expect((await stage.deliveries(projectId)).map(({ state }) => state)).toEqual(['delivered']);
});
