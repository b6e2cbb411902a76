import { expect, test } from 'vitest';
import { fixedClock } from '../../../testing/factories/clock.ts';
import { openTestDatabase, untilSomebodyWaits } from '../../../testing/factories/database.ts';
import { openEngine } from '../../../testing/factories/engine.ts';
import { putRecords } from '../../../testing/factories/ingest-queue.ts';
import { testRenderer } from '../../../testing/factories/send-services.ts';
import { listDrafts, lockDraft } from '../drafts/reads.ts';
import { lockTimer } from '../../platform/locks/store.ts';
import { createProject } from '../administration/create-project.ts';
import { createRule } from '../rules/write-rule.ts';
import { setSettings } from '../administration/set-settings.ts';
import { createTemplate, editTemplate } from './write-template.ts';

const clock = fixedClock();
const db = await openTestDatabase(clock);
const engine = openEngine(db, clock);
const DRAFTS = 501;

test('publishes a template while the sender has locked one of its drafts, however many there are', async () => {
  const { id: projectId } = await createProject(db, { name: 'Acme' });
  await setSettings(db, projectId, { quiet_hours: 'off', frequency_cap: 'off' });
  const email = { name: 'greeting', subject: 'Hello', body: 'Hello {{ user.name }}' };
  await createTemplate(
    { db, renderer: testRenderer },
    { projectId, document: email, follow: true, actor: 'ann' },
  );
  await createRule(db, {
    projectId,
    document: { name: 'greeter', when: { event: 'hello' }, steps: [{ draft: 'greeting' }] },
  });
  const ids = Array.from({ length: DRAFTS }, (_, n) => `u${n}`);
  const users = ids.map((id) => ({ external_user_id: id, email: `${id}@x.example` }));
  await putRecords(db, { projectId, kind: 'users', records: users });
  const events = ids.map((id) => ({ external_user_id: id, name: 'hello', properties: {} }));
  await putRecords(db, { projectId, kind: 'events', records: events });
  await engine.settle();
  const query = { projectId, state: null, ruleId: null, userId: null, after: null, limit: DRAFTS };
  const drafts = (await listDrafts(db, query)).toSorted((a, b) => (a.id < b.id ? -1 : 1));
  // The names of the users are unknown, so no draft is due yet. Publishing makes each due.
  expect(drafts.map(({ dueAt }) => dueAt)).toEqual(ids.map(() => null));
  let publishing: Promise<unknown> = Promise.resolve();
  await db.transaction(async (tx) => {
    await lockDraft(tx, projectId, drafts.at(-1)?.id ?? '');
    const document = { body: 'Hello there' };
    const input = { projectId, reference: 'greeting', document, follow: true, actor: 'bob' };
    publishing = editTemplate({ db, renderer: testRenderer }, input);
    await Promise.race([publishing, untilSomebodyWaits(db)]);
    await lockTimer(tx, projectId, 'send');
  });
  expect(await publishing).toMatchObject({ drafts: DRAFTS });
});
