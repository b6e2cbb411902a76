import { beforeEach, expect, test } from 'vitest';
import { fixedClock } from '../../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../../testing/factories/database.ts';
import { openEngine } from '../../../../testing/factories/engine.ts';
import { putRecords } from '../../../../testing/factories/ingest-queue.ts';
import { createAudience, deleteAudience } from '../../audiences/change-audience.ts';
import { createProject } from '../../administration/create-project.ts';
import { createRule, editRule } from '../write-rule.ts';
import { listRuleNeeds } from '../runs/rules-in-force.ts';

const DAY = 86_400_000;
const clock = fixedClock();
const db = await openTestDatabase(clock);
const engine = openEngine(db, clock);
let projectId = 0;
beforeEach(async () => {
  clock.advance(1_000);
  projectId = (await createProject(db, { name: 'Acme' })).id;
});

const email = (subject: string): object => ({ draft: { subject, preheader: '', body: 'Hello' } });
const event = (name: string): Promise<number> =>
  putRecords(db, {
    projectId,
    kind: 'events',
    records: [{ external_user_id: 'u1', name, properties: {} }],
  });
const drafts = (): Promise<object[]> =>
  db.query(`SELECT subject, version FROM beckon.draft WHERE project_id = $1 ORDER BY created_at`, [
    projectId,
  ]);

const STALL = {
  name: 'stall',
  when: { absence_of: ['done'], since: { event: 'began' }, for: '2d' },
  steps: [email('first'), { wait: '1d' }, email('second')],
};

test('uses the rule version in which a user began to wait', async () => {
  await createRule(db, { projectId, document: STALL });
  await event('began');
  await engine.settle();
  const changed = { ...STALL, when: { event: 'other' }, steps: [email('changed')] };
  await editRule(db, { projectId, reference: 'stall', document: changed, includeOpen: false, actor: 'test' });
  await engine.advance(2 * DAY);
  expect(await drafts()).toEqual([{ subject: 'first', version: 1 }]);
  await putRecords(db, {
    projectId,
    kind: 'users',
    records: [{ external_user_id: 'u1', email: 'u1@x.org' }],
  });
  // The run continues in its version, also in another process.
  await openEngine(db, clock).advance(4 * DAY);
  expect(await drafts()).toEqual([
    { subject: 'first', version: 1 },
    { subject: 'second', version: 1 },
  ]);
});

test('keeps what an older version needs while a user waits in it', async () => {
  const definition = { trait: 'plan', equals: 'free' };
  const audience = await createAudience({ db, listRuleNeeds }, { projectId, name: 'Free', definition });
  await createRule(db, { projectId, document: { ...STALL, only_if: { not: { audience: audience.id } } } });
  await event('began');
  await engine.settle();
  await editRule(db, { projectId, reference: 'stall', document: STALL, includeOpen: false, actor: 'test' });
  await expect(deleteAudience({ db, listRuleNeeds }, { projectId, reference: 'Free' })).rejects.toMatchObject(
    {
      details: [
        { message: expect.stringMatching(/the rule "stall" refers to it, in an older version/) as string },
      ],
    },
  );
  await event('done');
  await engine.advance(2 * DAY);
  expect(await deleteAudience({ db, listRuleNeeds }, { projectId, reference: 'Free' })).toMatchObject({
    id: audience.id,
  });
});

test('starts nothing in a new version for an event that arrived before the edit', async () => {
  await createRule(db, { projectId, document: STALL });
  await event('other');
  await engine.settle();
  const changed = { ...STALL, when: { event: 'other' }, steps: [email('changed')] };
  await editRule(db, { projectId, reference: 'stall', document: changed, includeOpen: false, actor: 'test' });
  await engine.advance(3 * DAY);
  expect(await drafts()).toEqual([]);
  await event('other');
  await engine.settle();
  expect(await drafts()).toEqual([{ subject: 'changed', version: 2 }]);
});
