import { afterAll, expect, test } from 'vitest';
import { preferencesServer, linkOf } from '../../../../testing/servers/preferences-server.ts';
import { HOUR } from '../../../../testing/factories/drafts.ts';
import { findText } from '../../../../testing/oracles/find-text.ts';
import { testHasher } from '../../../../testing/factories/send-services.ts';
import { newScenario, openStage, type Scenario } from '../../../../testing/scenario.ts';
import { idMaker } from '../../../platform/ids.ts';
import { listSuppressions } from '../../outcomes/suppressions/reads.ts';
import { setTopicUnsubscribes } from '../../outcomes/suppressions/store.ts';
import { erasePerson } from '../../profiles/erase-user.ts';

const stage = await openStage();
const { db } = stage.server;
const server = await preferencesServer(db);
afterAll(() => server.stop());

const ONE_CLICK = { 'List-Unsubscribe': 'One-Click' };

async function mail(scenario: Scenario, userId: string, email: string): Promise<string> {
  await scenario.user(userId, { email });
  await scenario.event(userId, 'hello');
  await scenario.later(3 * HOUR);
  return linkOf(scenario, userId);
}

const erase = ({ projectId }: Scenario, userId: string) =>
  erasePerson({ db, newId: idMaker(db.clock), hasher: testHasher }, { projectId, userId });

async function greeting(): Promise<Scenario> {
  const scenario = await newScenario(stage);
  await scenario.set({ quiet_hours: 'off', frequency_cap: 'off', topics: 'tips:Tips' });
  const steps = [{ draft: { subject: 'Hello', body: 'Hello.' } }];
  await scenario.rule({ name: 'greeter', when: { event: 'hello' }, steps });
  return scenario;
}

test('answers 200 for an unsubscribe link of an erased user, and writes no address', async () => {
  const scenario = await greeting();
  const email = 'needle.one@x.org';
  const link = await mail(scenario, 'u1', email);
  expect(await server.press(link, ONE_CLICK)).toBe(200);
  await erase(scenario, 'u1');
  const kept = await listSuppressions(db, { projectId: scenario.projectId, limit: 10 });
  expect(kept.map(({ kind }) => kind)).toEqual(['email_hash', 'user_hash']);
  for (const path of [link, `${link}/topics`, `${link}/resubscribe`])
    expect(await server.press(path, { ...ONE_CLICK, topic: 'tips' })).toBe(200);
  expect(await listSuppressions(db, { projectId: scenario.projectId, limit: 10 })).toEqual(kept);
  expect(await findText(db, [email])).toEqual([]);
});

test('lets a user with the address of an erased user lift its suppression on the preferences page', async () => {
  const scenario = await greeting();
  const email = 'needle.two@x.org';
  await mail(scenario, 'u1', email);
  const targets = [{ projectId: scenario.projectId, kind: 'email' as const, value: email }];
  await setTopicUnsubscribes(db, { targets, refused: ['tips'], accepted: [], at: scenario.now() });
  await erase(scenario, 'u1');
  const link = await mail(scenario, 'u2', email);
  const refused = () =>
    db.query(`SELECT kind, topic FROM beckon.topic_unsubscribe WHERE project_id = $1`, [scenario.projectId]);
  expect(await refused()).toEqual([{ kind: 'email', topic: 'tips' }]);
  expect(await server.press(`${link}/topics`, { topic: 'tips' })).toBe(200);
  expect(await refused()).toEqual([]);
});
