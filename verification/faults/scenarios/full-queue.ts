import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { INGEST_QUEUE_MAX_RECORDS } from '@beckon/contract';
import type pg from 'pg';
import { systemClock } from '../../../packages/server/src/platform/time/clock.ts';
import { deriveKey } from '../../../packages/server/src/platform/crypto/hash.ts';
import { silentLog } from '../../../packages/server/src/platform/log.ts';
import { createProject } from '../../../packages/server/src/modules/administration/create-project.ts';
import { openDatabase } from '../../../packages/server/src/platform/db/database.ts';
import type { Fault, Stage } from '../fault.ts';
import { inFlight, note } from '../inject/hold.ts';
import { openJournal, type World } from '../journal.ts';
import { post } from '../load/post.ts';
import type { RequestSpec } from '../load/requests.ts';
import { between, type Random } from '../random.ts';
import { newKey, SECRET } from '../stage/world.ts';

/**
 * Fills a queue that is not processed to its limit, by both API processes at once. It must accept as many records as there is space for,
 * and not one more. The number of waiting records is written into the database, because sending them takes minutes and proves nothing more.
 */
export const FULL_QUEUE: Fault = {
  code: 'S1',
  name: 'a queue is filled to its limit',
  weight: 1,
  async run(stage, random) {
    const target = await createQueueProject(stage);
    const capacity = between(1, CAPACITY_MAX, random);
    note(stage, {
      code: 'S1',
      detail: `a queue with capacity for ${capacity}`,
      victim: `project ${target.projectId}`,
      inFlight: await inFlight(stage),
    });
    const waiting = INGEST_QUEUE_MAX_RECORDS - capacity;
    const holder = await stage.postgres.client();
    try {
      await withClient(stage, (client) => changeWaiting(client, target.projectId, waiting));
      await holdProcessing(holder, target.projectId);
      const project = String(target.projectId);
      stage.journal.write({ kind: 'held', at: Date.now(), project, waiting });
      await fillQueue(stage, { ...target, random });
      stage.journal.write({ kind: 'released', at: Date.now(), project });
    } finally {
      await holder.end();
      await withClient(stage, (client) => changeWaiting(client, target.projectId, -waiting));
    }
  },
};

const CAPACITY_MAX = 12;
/** Below the burst of the rate limit. */
const REQUESTS = 30;

type QueueProject = { projectId: number; key: { id: string; secret: string } };

/** Creates a project that no other client writes to. */
async function createQueueProject({ dir }: Stage): Promise<QueueProject> {
  const { databaseUrl } = JSON.parse(readFileSync(join(dir, 'world.json'), 'utf8')) as World;
  const connection = (): { connectionString: string } => ({ connectionString: databaseUrl });
  const db = await openDatabase({ connection, clock: systemClock, log: silentLog });
  try {
    const { id: projectId } = await createProject(db, { name: 'full-queue' });
    const pepper = deriveKey(SECRET, 'api-key pepper');
    return { projectId, key: await newKey({ db, pepper }, projectId) };
  } finally {
    await db.close();
  }
}

/** Holds the project lock. A processor takes it first, and skips a locked project. */
async function holdProcessing(client: pg.Client, projectId: number): Promise<void> {
  await client.query('BEGIN');
  await client.query('SELECT 1 FROM beckon.project_lock WHERE project_id = $1 FOR UPDATE', [projectId]);
}

async function changeWaiting(client: pg.Client, projectId: number, delta: number): Promise<void> {
  await client.query('UPDATE beckon.ingest_queue_state SET waiting = waiting + $2 WHERE project_id = $1', [
    projectId,
    delta,
  ]);
}

async function withClient(
  { postgres }: Pick<Stage, 'postgres'>,
  work: (client: pg.Client) => Promise<void>,
): Promise<void> {
  const client = await postgres.client();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

async function fillQueue(
  { dir, victims }: Stage,
  { projectId, key, random }: QueueProject & { random: Random },
): Promise<void> {
  const journal = openJournal(dir, 'full-queue');
  const targets = victims.flatMap(({ url }) => url ?? []);
  const run = random();
  try {
    await Promise.all(
      Array.from({ length: REQUESTS }, (_, n) =>
        post(journal, userRequest(`full-queue ${projectId} ${run} ${n}`, String(projectId)), {
          key: key.id,
          secret: key.secret,
          to: targets[n % targets.length] ?? '',
          intent: 'normal',
        }),
      ),
    );
  } finally {
    journal.close();
  }
}

function userRequest(request: string, project: string): RequestSpec {
  const idempotencyKey = createHash('sha256').update(request).digest('hex').slice(0, 32);
  const users = [{ external_user_id: 'u1', traits: { last: request } }];
  return {
    request,
    project,
    path: '/api/v1/users/bulk',
    idempotencyKey,
    body: JSON.stringify({ users }),
    records: 1,
  };
}
