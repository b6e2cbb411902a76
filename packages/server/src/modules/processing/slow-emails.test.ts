import { afterAll, describe, expect, test } from 'vitest';
import { fixedClock } from '../../../testing/factories/clock.ts';
import { testDatabase } from '../../../testing/factories/database.ts';
import { testHasher } from '../../../testing/factories/send-services.ts';
import { putRecords } from '../../../testing/factories/ingest-queue.ts';
import { idMaker } from '../../platform/ids.ts';
import { silentLog } from '../../platform/log.ts';
import { listDrafts } from '../drafts/reads.ts';
import { listDead } from '../ingest/queue/dead-letters.ts';
import { openDatabase } from '../../platform/db/database.ts';
import { createProject } from '../administration/create-project.ts';
import { createRule } from '../rules/write-rule.ts';
import { createSlowRenders } from '../rules/evaluation/batch-rendering.ts';
import { createProcessor } from './process.ts';

const database = await testDatabase();
const clock = fixedClock();
let fails = false;
const db = await openDatabase({
  connection: database.connection,
  clock,
  log: silentLog,
  failpoint(point) {
    // Simulates a connection that the database closed because its transaction was idle for too long.
    if (fails && point === 'batch_committing') throw new Error('Connection terminated unexpectedly');
  },
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

/** The second email uses 12 s of CPU time. */
let readings = 0;
const usedMs = (): number => (++readings >= 4 ? 12_000 : 0);
const slow = createSlowRenders(usedMs);
const processor = createProcessor({ db, log: silentLog, newId: idMaker(db.clock), hasher: testHasher, slow });

describe('an email that blocks the process', () => {
  test('is held with render_failed in the next attempt, without another render, and all others are drafted', async () => {
    const { id: projectId } = await createProject(db, { name: 'Acme' });
    const steps = [{ draft: { subject: 'Hello', body: 'Hello' } }];
    await createRule(db, { projectId, document: { name: 'greeter', when: { event: 'hello' }, steps } });
    const users = ['ada', 'bea', 'cyd'];
    const of = (id: string) => ({ external_user_id: id, email: `${id}@x.example` });
    await putRecords(db, { projectId, kind: 'users', records: users.map(of) });
    const event = (id: string) => ({ external_user_id: id, name: 'hello', properties: {} });
    await putRecords(db, { projectId, kind: 'events', records: users.map(event) });
    fails = true;
    await expect(processor.batch('live', [projectId])).rejects.toThrow('Connection terminated');
    expect(processor.takeSlow()).toEqual(new Map([[projectId, 12_000]]));
    fails = false;
    expect((await processor.batch('live', [projectId])).records).toBe(6);
    // Two readings for each of three emails, and then for two of them.
    expect(readings).toBe(10);
    const query = { projectId, state: null, ruleId: null, userId: null, after: null, limit: 10 };
    const drafts = await listDrafts(db, query);
    expect(new Map(drafts.map((draft) => [draft.userId, draft.reason]))).toEqual(
      new Map([
        ['ada', null],
        ['bea', 'render_failed'],
        ['cyd', null],
      ]),
    );
    const held = drafts.find(({ userId }) => userId === 'bea');
    expect(held?.content).toMatchObject({ subject: 'Hello', body: '' });
    expect(await listDead(db, projectId)).toEqual([]);
    expect(processor.takeSlow()).toEqual(new Map());
  });
});
