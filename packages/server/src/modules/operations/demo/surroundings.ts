import { randomUUID } from 'node:crypto';
import type { NewId } from '../../../platform/ids.ts';
import type { Log } from '../../../platform/log.ts';
import type { Sealer } from '../../../platform/crypto/encrypt.ts';
import { createEndpoint, createDelivery, disableEndpoint } from '../../webhooks/index.ts';
import { keyUse } from '../../ingest/index.ts';
import { requestLog } from '../../users/index.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { Outbound } from '../../../platform/outbound/outbound.ts';
import type { Random } from './random.ts';

/** Simulates what surrounds the engine: logged requests and a webhook endpoint. */
export type DemoEnvironment = {
  /** Logs the given number of successful requests to one API endpoint, and occasionally a rejected one. */
  requests(endpoint: 'users' | 'events', count: number): void;
  /** Delivers the webhooks that are due. */
  tell(): Promise<void>;
  /** Ends all deliveries and disables the endpoint, because no server receives the webhooks of a demo. */
  end(): Promise<void>;
};

type Around = {
  db: Database;
  newId: NewId;
  log: Log;
  sealer: Sealer;
  random: Random;
  project: { id: number; key: { id: string } };
};

const CLIENT = 'harbour-server/2.4.0';
const ENDPOINT = 'https://hooks.harbour.example/beckon';
const BODY_BYTES = 180;

export async function surround(around: Around): Promise<DemoEnvironment> {
  const { db, newId, log, random, project } = around;
  const requests = requestLog({ db, clock: db.clock, newId, log });
  const uses = keyUse({ db, clock: db.clock, log });
  const endpointId = await addEndpoint(around);
  const delivery = createDelivery({
    db,
    log,
    sealer: around.sealer,
    outbound: answering(random),
    agent: 'Beckon',
  });
  return {
    requests(endpoint, count) {
      if (count === 0) return;
      const noted = {
        projectId: project.id,
        keyId: project.key.id,
        endpoint,
        bytes: BODY_BYTES,
        ms: random.whole(2, 9),
      };
      for (let n = 0; n < count; n += 1)
        requests.note({
          ...noted,
          status: 202,
          code: null,
          accepted: 1,
          rejected: 0,
          requestId: randomUUID(),
        });
      if (random.chance(REFUSED))
        requests.note({
          ...noted,
          status: 422,
          code: 'validation_failed',
          accepted: 0,
          rejected: 1,
          requestId: randomUUID(),
        });
      uses.note({ id: project.key.id, projectId: project.id }, CLIENT);
    },
    async tell() {
      await Promise.all([requests.flush(), uses.flush()]);
      while ((await delivery.round()).claimed > 0) await delivery.answered();
      await delivery.round();
    },
    async end() {
      delivery.stop();
      await delivery.answered();
      await delivery.round();
      await disableEndpoint({ db }, { projectId: project.id, endpointId });
      await Promise.all([requests.close(), uses.close()]);
    },
  };
}

const REFUSED = 0.02;
const FAILS = 0.03;

/** Uses the webhooks module directly, because the route rejects endpoints of demos, which could send to a real server. */
async function addEndpoint({ db, newId, sealer, project }: Around): Promise<string> {
  const deps = { newId, sealer, rules: { allowPrivate: false }, now: db.clock.now() };
  const wanted = { projectId: project.id, url: ENDPOINT, description: 'The product itself' };
  const { endpoint } = await db.transaction((tx) => createEndpoint(tx, deps, wanted));
  return endpoint.id;
}

/** Answers requests within the process, because a demo sends none. */
function answering(random: Random): Pick<Outbound, 'post'> {
  return {
    post: () => {
      const [status, answer] = random.chance(FAILS) ? [503, 'Service Unavailable'] : [200, 'ok'];
      const ms = random.whole(20, 240);
      return Promise.resolve({ ok: true, status, retryAfter: null, answer, file: null, ms });
    },
  };
}
