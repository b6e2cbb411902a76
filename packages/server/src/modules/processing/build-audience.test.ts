import { describe, expect, test } from 'vitest';
import { testHasher } from '../../../testing/factories/send-services.ts';
import { fixedClock } from '../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../testing/factories/database.ts';
import { putRecords } from '../../../testing/factories/ingest-queue.ts';
import { idMaker } from '../../platform/ids.ts';
import { silentLog } from '../../platform/log.ts';
import { createAudience } from '../audiences/change-audience.ts';
import { createProject } from '../administration/create-project.ts';
import { listRuleNeeds } from '../rules/runs/rules-in-force.ts';
import { startAudienceBuilder } from './audience-builder.ts';
import { createPieceSizes } from './piece-sizes.ts';
import { createProcessor } from './process.ts';

describe('createPieceSizes', () => {
  test('begins with 500 users, and doubles while a step is short', () => {
    const sizes = createPieceSizes();
    const limits = [0, 0, 0].map(() => {
      const limit = sizes.next('a');
      sizes.record('a', { ms: 10, limit });
      return limit;
    });
    expect(limits).toEqual([500, 1_000, 2_000]);
    expect(sizes.next('b')).toBe(500);
  });

  test('aims at 100 ms, within its bounds', () => {
    const sizes = createPieceSizes();
    sizes.record('a', { ms: 400, limit: 8_000 });
    expect(sizes.next('a')).toBe(2_000);
    sizes.record('a', { ms: 30_000, limit: 500 });
    expect(sizes.next('a')).toBe(2);
    sizes.record('a', { ms: 1, limit: 15_000 });
    expect(sizes.next('a')).toBe(20_000);
  });
});

describe('startAudienceBuilder', () => {
  test('wakes the processor after a step if records wait for the project lock', async () => {
    const db = await openTestDatabase(fixedClock());
    const processor = createProcessor({ db, log: silentLog, newId: idMaker(db.clock), hasher: testHasher });
    const { id: projectId } = await createProject(db, { name: 'Acme' });
    const users = Array.from({ length: 600 }, (_, i) => ({ external_user_id: `u${i}`, traits: { seats: i } }));
    await putRecords(db, { projectId, kind: 'users', records: users });
    await processor.batch('live', [projectId]);
    const definition = { trait: 'seats', at_least: 300 };
    await createAudience({ db, listRuleNeeds }, { projectId, name: 'Large', definition });
    await putRecords(db, { projectId, kind: 'users', records: users.slice(0, 1) });
    const woken = Promise.withResolvers<void>();
    const builder = startAudienceBuilder({ db, processor, log: silentLog, wakeProcessor: woken.resolve });
    await woken.promise;
    await builder.stop();
    const [version] = await db.query<{ built: number }>(
      'SELECT built FROM beckon.audience_version WHERE project_id = $1',
      [projectId],
    );
    expect(version?.built).toBeGreaterThanOrEqual(500);
  });
});
