import { beforeEach, expect, test } from 'vitest';
import { fixedClock } from '../../../testing/factories/clock.ts';
import { openTestDatabase, untilSomebodyWaits } from '../../../testing/factories/database.ts';
import { draftFacts } from '../../../testing/factories/drafts.ts';
import { idMaker } from '../../platform/ids.ts';
import { listAudiences } from '../audiences/show-audiences.ts';
import { hold } from '../drafts/hold-draft.ts';
import { lockDraft } from '../drafts/reads.ts';
import { newDraft } from '../drafts/new-draft.ts';
import { orThrow } from '../drafts/refusals.ts';
import { writeTransitions } from '../drafts/store.ts';
import { getSettings } from '../workspace/projects/project-settings.ts';
import { lockTimer } from '../../platform/locks/store.ts';
import { createAudience, editAudience } from '../audiences/change-audience.ts';
import { createProject } from './create-project.ts';
import { setSettings } from './set-settings.ts';
import { listRuleNeeds } from '../rules/runs/rules-in-force.ts';

const db = await openTestDatabase(fixedClock());
let projectId = 0;
beforeEach(async () => {
  projectId = (await createProject(db, { name: 'Acme' })).id;
});

const keepEvents = async () => (await getSettings(db, projectId)).texts.keep_events;

test('keeps events as long as the audience that looks back furthest, and names it in the error', async () => {
  const within = (days: number) => ({ event: 'login', at_least: 1, within: `${days}d` });
  const { id } = await createAudience(
    { db, listRuleNeeds },
    { projectId, name: 'Zealous', definition: within(90) },
  );
  await createAudience(
    { db, listRuleNeeds },
    {
      projectId,
      name: 'Around',
      definition: { any: [{ audience: id }, within(60)] },
    },
  );
  await createAudience(
    { db, listRuleNeeds },
    { projectId, name: 'Ever', definition: { event: 'login', at_least: 1 } },
  );
  const refused = setSettings(db, projectId, { keep_events: '89d', paused: 'true' });
  await expect(refused).rejects.toMatchObject({
    code: 'validation_failed',
    details: [{ field: 'keep_events', message: expect.stringMatching(/at least 90d.*"Zealous"/) as string }],
  });
  expect((await getSettings(db, projectId)).texts).toMatchObject({ keep_events: 'forever', paused: 'false' });
  await setSettings(db, projectId, { keep_events: '90d' });
  expect(await keepEvents()).toBe('90d');
  // Other settings are not checked against it, and `forever` is always long enough.
  await setSettings(db, projectId, { paused: 'true' });
  await setSettings(db, projectId, { keep_events: 'forever' });
  expect(await keepEvents()).toBe('forever');
});

test('allows 31 days without audiences, whatever other projects have', async () => {
  const { id: other } = await createProject(db, { name: 'Other' });
  await createAudience(
    { db, listRuleNeeds },
    {
      projectId: other,
      name: 'A',
      definition: { event: 'x', at_least: 1, within: '90d' },
    },
  );
  await setSettings(db, projectId, { keep_events: '31d', keep_stream: '1d', keep_dead: '24h' });
  expect((await getSettings(db, projectId)).texts).toMatchObject({
    keep_events: '31d',
    keep_stream: '24h',
    keep_dead: '24h',
  });
});

test('changes sender and throttle together while a draft that waits for a sender is locked', async () => {
  const now = db.clock.now();
  const made = newDraft({ ...draftFacts(idMaker(db.clock)), projectId, now });
  const held = orThrow(hold(made.draft, { reason: 'no_sender', until: now + 3_600_000, now }));
  await db.transaction((tx) => writeTransitions(tx, [made, held]));
  let setting: Promise<unknown> = Promise.resolve();
  await db.transaction(async (tx) => {
    await lockDraft(tx, projectId, made.draft.id);
    setting = setSettings(db, projectId, { from_name: 'Acme', throttle: '9/s' });
    await Promise.race([setting, untilSomebodyWaits(db)]);
    await lockTimer(tx, projectId, 'send');
  });
  expect(await setting).toMatchObject({ from_name: 'Acme', throttle: '9/s' });
});

test('rejects an unknown project and an unknown setting', async () => {
  await expect(setSettings(db, projectId + 99, { paused: 'true' })).rejects.toMatchObject({
    code: 'not_found',
  });
  await expect(setSettings(db, projectId, { keep_everything: '1d' })).rejects.toMatchObject({
    code: 'validation_failed',
  });
});

test('rejects a new or edited audience that looks back further than events are kept, and changes nothing', async () => {
  await setSettings(db, projectId, { keep_events: '31d' });
  const tooFar = { event: 'login', within: '90d' };
  const refusal = {
    details: [{ field: 'definition', message: expect.stringMatching(/90d.*31d/) as string }],
  };
  await expect(
    createAudience({ db, listRuleNeeds }, { projectId, name: 'Far', definition: tooFar }),
  ).rejects.toMatchObject(refusal);
  await createAudience(
    { db, listRuleNeeds },
    { projectId, name: 'Near', definition: { event: 'login', within: '30d' } },
  );
  await expect(
    editAudience({ db, listRuleNeeds }, { projectId, reference: 'Near', definition: tooFar }),
  ).rejects.toMatchObject(refusal);
  expect((await listAudiences(db, projectId)).map(({ name }) => name)).toEqual(['Near']);
});

test('limits the audiences of a project to 1,000 different conditions in total', async () => {
  const definitionFrom = (from: number) => ({
    any: Array.from({ length: 199 }, (_, i) => ({ event: 'login', within: '7d', at_least: from + i + 1 })),
  });
  for (let n = 0; n < 5; n += 1)
    await createAudience(
      { db, listRuleNeeds },
      { projectId, name: `A${n}`, definition: definitionFrom(n * 199) },
    );
  const message = expect.stringMatching(/1194 different event conditions.*1000/) as string;
  await expect(
    createAudience(
      { db, listRuleNeeds },
      {
        projectId,
        name: 'One too many',
        definition: {
          any: Array.from({ length: 199 }, (_, i) => ({ event: 'logout', within: '7d', at_least: i + 1 })),
        },
      },
    ),
  ).rejects.toMatchObject({ details: [{ field: 'definition', message }] });
  // A repeated condition counts once.
  await createAudience({ db, listRuleNeeds }, { projectId, name: 'The same', definition: definitionFrom(0) });
});
