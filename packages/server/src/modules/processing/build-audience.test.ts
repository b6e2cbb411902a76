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
import { createBuildTurns } from './build-turns.ts';
import { createProcessor } from './process.ts';

describe('createBuildTurns', () => {
  test('begins with 500 users, and doubles while a piece is short', () => {
    const turns = createBuildTurns();
    const limits = ['', 'u1', 'u2'].map((before, i) => {
      const limit = turns.take('a', before) ?? 0;
      turns.record('a', { ms: 10, limit, progress: `u${i + 1}` });
      return limit;
    });
    expect(limits).toEqual([500, 1_000, 2_000]);
    expect(turns.take('b', '')).toBe(500);
  });

  test('aims at 150 ms, within its bounds', () => {
    const turns = createBuildTurns();
    const after = (ms: number, limit: number): number | null => {
      turns.record('a', { ms, limit, progress: '' });
      return turns.take('a', '');
    };
    expect(after(400, 8_000)).toBe(3_000);
    expect(after(30_000, 500)).toBe(3);
    expect(after(1, 15_000)).toBe(20_000);
  });

  test('leaves a build to the process that advanced it, until that one stops', () => {
    const turns = createBuildTurns();
    turns.record('a', { ms: 150, limit: 500, progress: 'u1' });
    expect(turns.take('a', 'u2')).toBeNull();
    expect(turns.take('a', 'u3')).toBeNull();
    expect(turns.take('a', 'u3')).toBe(500);
  });
});

describe('startAudienceBuilder', () => {
  test('wakes the processor after a step if records wait for the project lock', async () => {
    const db = await openTestDatabase(fixedClock());
    const processor = createProcessor({ db, log: silentLog, newId: idMaker(db.clock), hasher: testHasher });
    const { id: projectId } = await createProject(db, { name: 'Acme' });
    const users = Array.from({ length: 600 }, (_, i) => ({
      external_user_id: `u${i}`,
      traits: { seats: i },
    }));
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
