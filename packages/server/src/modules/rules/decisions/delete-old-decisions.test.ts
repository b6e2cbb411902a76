import { expect, test } from 'vitest';
import { jobRun } from '../../../../testing/factories/job-run.ts';
import { fixedClock } from '../../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../../testing/factories/database.ts';
import { idMaker } from '../../../platform/ids.ts';
import { silentLog } from '../../../platform/log.ts';
import { writeDecisions } from './store.ts';
import { createProject } from '../../administration/create-project.ts';
import { deleteOldDecisions } from './delete-old-decisions.ts';

const clock = fixedClock();
const db = await openTestDatabase(clock);
const newId = idMaker(db.clock);

const DAY_MS = 86_400_000;

async function decide(projectId: number, count: number): Promise<void> {
  const ruleId = newId();
  const decisions = Array.from({ length: count }, (_, i) => ({
    projectId,
    userId: `u${i}`,
    ruleId,
    key: '',
    reason: 'only_if',
    detail: {},
    at: clock.now(),
  }));
  await writeDecisions(db, decisions);
}

async function decisionsOf(projectId: number): Promise<number> {
  const rows = await db.query<{ n: number }>(
    'SELECT count(*) AS n FROM beckon.decision WHERE project_id = $1',
    [projectId],
  );
  return rows[0]?.n ?? 0;
}

test('keeps decisions of all projects for 90 days after their last change, and stops between two steps', async () => {
  const { id: firstId } = await createProject(db, { name: 'One' });
  const { id: secondId } = await createProject(db, { name: 'Two' });
  for (const id of [firstId, secondId]) await decide(id, 1_200);
  clock.advance(89 * DAY_MS);
  for (const id of [firstId, secondId]) await decide(id, 5);
  const options = { db, log: silentLog };
  await deleteOldDecisions(options, jobRun());
  expect([await decisionsOf(firstId), await decisionsOf(secondId)]).toEqual([1_205, 1_205]);
  clock.advance(DAY_MS + 1);
  let checks = 0;
  await deleteOldDecisions(
    options,
    jobRun(() => (checks += 1) > 2),
  );
  expect([await decisionsOf(firstId), await decisionsOf(secondId)]).toEqual([205, 1_205]);
  await deleteOldDecisions(options, jobRun());
  expect([await decisionsOf(firstId), await decisionsOf(secondId)]).toEqual([5, 5]);
});

test('logs a warning for a project that fails, and continues with the others', async () => {
  const [first, second] = [
    await createProject(db, { name: 'One' }),
    await createProject(db, { name: 'Two' }),
  ];
  for (const { id } of [first, second]) await decide(id, 3);
  clock.advance(91 * DAY_MS);
  const warnings: object[] = [];
  const warn = (found: object): void => void warnings.push(found);
  const failing: typeof db = {
    ...db,
    transaction: (work) =>
      db.transaction((tx) =>
        work({
          ...tx,
          query: (text, values) =>
            values?.[0] === first.id ? Promise.reject(new Error('too slow')) : tx.query(text, values),
        }),
      ),
  };
  const run = deleteOldDecisions({ db: failing, log: { ...silentLog, warn } }, jobRun());
  await expect(run).rejects.toThrow('failed for 1 of');
  expect([await decisionsOf(first.id), await decisionsOf(second.id)]).toEqual([3, 0]);
  expect(warnings).toMatchObject([{ project_id: first.id, job: 'tested' }]);
});
