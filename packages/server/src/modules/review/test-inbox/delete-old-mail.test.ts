import { expect, test } from 'vitest';
import { jobRun } from '../../../../testing/factories/job-run.ts';
import { fixedClock } from '../../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../../testing/factories/database.ts';
import { idMaker } from '../../../platform/ids.ts';
import { silentLog } from '../../../platform/log.ts';
import { keepMail } from './keep-mail.ts';
import { listMail } from './reads.ts';
import { createProject } from '../../administration/create-project.ts';
import { deleteOldMail } from './delete-old-mail.ts';

const clock = fixedClock();
const db = await openTestDatabase(clock);
const newId = idMaker(db.clock);
const options = { db, log: silentLog };

const DAY_MS = 86_400_000;

async function keep(projectId: number, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    const envelope = { mailFrom: 'b+x@x.test', rcptTo: 'a@x.test', draftId: null, userId: null };
    await keepMail(db, { projectId, id: newId(), ...envelope, raw: Buffer.from('x'), at: db.clock.now() });
  }
}

const left = async (projectId: number): Promise<number> =>
  (await listMail(db, { projectId, limit: 1_000 })).length;

test('keeps emails of all projects for 30 days, the newest up to a limit, and stops between two steps', async () => {
  const { id: first } = await createProject(db, { name: 'One' });
  const { id: second } = await createProject(db, { name: 'Two' });
  for (const id of [first, second]) await keep(id, 3);
  clock.advance(29 * DAY_MS);
  for (const id of [first, second]) await keep(id, 5);
  await deleteOldMail(options, jobRun());
  expect([await left(first), await left(second)]).toEqual([8, 8]);
  clock.advance(DAY_MS + 1);
  await deleteOldMail(
    options,
    jobRun(() => true),
  );
  expect([await left(first), await left(second)]).toEqual([8, 8]);
  await deleteOldMail(options, jobRun());
  expect([await left(first), await left(second)]).toEqual([5, 5]);
  await deleteOldMail({ ...options, kept: { ms: 30 * DAY_MS, most: 2 } }, jobRun());
  expect([await left(first), await left(second)]).toEqual([2, 2]);
});

test('logs a warning for a project that fails, and continues with the others', async () => {
  const [first, second] = [
    await createProject(db, { name: 'One' }),
    await createProject(db, { name: 'Two' }),
  ];
  for (const { id } of [first, second]) await keep(id, 1);
  clock.advance(31 * DAY_MS);
  const warnings: object[] = [];
  const warn = (found: object): void => void warnings.push(found);
  const failing: typeof db = {
    ...db,
    query: (text, values) =>
      values?.[0] === first.id ? Promise.reject(new Error('too slow')) : db.query(text, values),
  };
  const run = deleteOldMail({ db: failing, log: { ...silentLog, warn } }, jobRun());
  await expect(run).rejects.toThrow('failed for 1 of');
  expect([await left(first.id), await left(second.id)]).toEqual([1, 0]);
  expect(warnings).toMatchObject([{ project_id: first.id, job: 'tested' }]);
});
