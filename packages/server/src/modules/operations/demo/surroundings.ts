/** Simulates what surrounds the engine: logged requests and a webhook endpoint. */

import { randomUUID } from 'node:crypto';
import type { NewId } from '../../../platform/ids.ts';
import type { Log } from '../../../platform/log.ts';
import type { Encrypter } from '../../../platform/crypto/encrypt.ts';
import { createEndpoint, createDelivery, disableEndpoint } from '../../webhooks/index.ts';
import { keyUse, requestLog } from '../../ingest/index.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { Outbound } from '../../../platform/outbound/outbound.ts';
import type { Random } from './random.ts';

export type DemoEnvironment = {
  /** Logs the given number of successful requests to one API endpoint, and occasionally a rejected one. */
  requests(endpoint: 'users' | 'events', count: number): void;
  /** Delivers the webhooks that are due. */
  deliver(): Promise<void>;
  /** Ends all deliveries and disables the endpoint, because no server receives the webhooks of a demo. */
  end(): Promise<void>;
};

type EnvironmentDeps = {
  db: Database;
  newId: NewId;
  log: Log;
  encrypter: Encrypter;
  random: Random;
  project: { id: number; key: { id: string } };
};

const CLIENT = 'harbour-server/2.4.0';
const ENDPOINT = 'https://hooks.harbour.example/beckon';
const BODY_BYTES = 180;

export async function createDemoEnvironment(deps: EnvironmentDeps): Promise<DemoEnvironment> {
  const { db, newId, log, random, project } = deps;
  const requests = requestLog({ db, clock: db.clock, newId, log });
  const uses = keyUse({ db, clock: db.clock, log });
  const endpointId = await addEndpoint(deps);
  const delivery = createDelivery({
    db,
    log,
    encrypter: deps.encrypter,
    outbound: fakeOutbound(random),
    agent: 'Beckon',
  });
  return {
    requests(endpoint, count) {
      if (count === 0) return;
      const shared = {
        projectId: project.id,
        keyId: project.key.id,
        endpoint,
        bytes: BODY_BYTES,
        ms: random.whole(2, 9),
      };
      for (let n = 0; n < count; n += 1)
        requests.note({
          ...shared,
          status: 202,
          code: null,
          accepted: 1,
          rejected: 0,
          requestId: randomUUID(),
        });
      if (random.chance(REFUSED))
        requests.note({
          ...shared,
          status: 422,
          code: 'validation_failed',
          accepted: 0,
          rejected: 1,
          requestId: randomUUID(),
        });
      uses.note({ id: project.key.id, projectId: project.id }, CLIENT);
    },
    async deliver() {
      await Promise.all([requests.flush(), uses.flush()]);
      while ((await delivery.round()).claimed > 0) await delivery.whenIdle();
      await delivery.round();
    },
    async end() {
      delivery.stop();
      await delivery.whenIdle();
      await delivery.round();
      await disableEndpoint({ db }, { projectId: project.id, endpointId });
      await Promise.all([requests.close(), uses.close()]);
    },
  };
}

const REFUSED = 0.02;
const FAILS = 0.03;

/** Uses the webhooks module directly, because the route rejects endpoints of demos, which could send to a real server. */
async function addEndpoint({ db, newId, encrypter, project }: EnvironmentDeps): Promise<string> {
  const deps = { newId, encrypter, rules: { allowPrivate: false }, now: db.clock.now() };
  const input = { projectId: project.id, url: ENDPOINT, description: 'The product itself' };
  const { endpoint } = await db.transaction((tx) => createEndpoint(tx, deps, input));
  return endpoint.id;
}

/** Answers requests within the process, because a demo sends none. */
function fakeOutbound(random: Random): Pick<Outbound, 'post'> {
  return {
    post: () => {
      const [status, body] = random.chance(FAILS) ? [503, 'Service Unavailable'] : [200, 'ok'];
      const ms = random.whole(20, 240);
      return Promise.resolve({ ok: true, status, retryAfter: null, body, file: null, ms });
    },
  };
}
