import { beforeEach, expect, test } from 'vitest';
import {
  CLICKED,
  emailsRule,
  newOutcomeScenario,
  OPENED,
  sendTo,
} from '../../../../testing/factories/email-outcomes.ts';
import { HOUR, MINUTE } from '../../../../testing/factories/drafts.ts';
import { openStage } from '../../../../testing/scenario.ts';
import { cursorOf, cursorOfTime, readStreamFilter, type StreamItem } from './stream.ts';
import { findItem, readStream } from './read-stream.ts';

const stage = await openStage();
const { db } = stage.server;
beforeEach(() => stage.engine.transport.setResult({ result: 'sent' }));

async function all(projectId: number, filter = '', limit = 1_000): Promise<StreamItem[]> {
  const found: StreamItem[] = [];
  let after: string | null = cursorOfTime(new Date(0));
  for (let more = true; more && after !== null;) {
    const page = await readStream(db, { projectId, filter: readStreamFilter(filter), after, limit });
    found.push(...page.items);
    after = page.cursor;
    ({ more } = page);
  }
  return found;
}

test('lists changes of a draft and outcomes of its email as items', async () => {
  const scenario = await newOutcomeScenario(stage);
  await scenario.rule(emailsRule());
  await scenario.user('ada', { email: 'ada@x.org' });
  await scenario.event('ada', 'began');
  await scenario.later(MINUTE);
  await scenario.act('ada', { kind: 'approve' });
  await scenario.later(HOUR);
  await scenario.recordOutcome('ada', OPENED, CLICKED);
  const { projectId } = scenario;
  const [message] = await scenario.messages();
  const about = { external_user_id: 'ada', rule: 'Emails', draft_id: message?.draft_id };
  expect(await all(projectId, 'type:draft_changed')).toMatchObject([
    { ...about, action: 'approve', from: 'scheduled', to: 'approved', actor: 'ann' },
    { ...about, action: 'claim', from: 'approved', to: 'sending' },
    { ...about, action: 'sent', from: 'sending', to: 'sent' },
  ]);
  const became = await all(projectId, 'type:outcome');
  expect(became.map((item) => String('outcome' in item && item.outcome)).toSorted()).toEqual([
    'email.clicked',
    'email.opened',
  ]);
  expect(became[0]).toMatchObject({ ...about, email_id: message?.id });
  expect((await all(projectId, 'type:draft_changed name:approve user:ada')).length).toBe(1);
  expect((await all(projectId, 'type:outcome name:*.clicked rule:Emails')).length).toBe(1);
  expect(await all(projectId, 'type:draft_changed user:bob')).toEqual([]);
});

test('lists changes of one draft within a millisecond as separate items, in pages of any length', async () => {
  const scenario = await newOutcomeScenario(stage);
  await scenario.rule(emailsRule());
  await sendTo(scenario, ['a', 'b', 'c', 'd', 'e']);
  const { projectId } = scenario;
  const items = await all(projectId, '-type:request');
  const cursors = items.map((item) => cursorOf(item));
  expect(new Set(cursors).size).toBe(items.length);
  expect(items.filter(({ type }) => type === 'draft_changed').length).toBeGreaterThanOrEqual(10);
  for (const limit of [1, 2, 3, 7]) expect(await all(projectId, '-type:request', limit)).toEqual(items);
  for (const item of items) expect(await findItem(db, { projectId, cursor: cursorOf(item) })).toEqual(item);
  const [first] = cursors;
  expect(await findItem(db, { projectId: projectId + 1_000, cursor: String(first) })).toBeUndefined();
  expect(await findItem(db, { projectId, cursor: cursorOfTime(new Date(scenario.now())) })).toBeUndefined();
});
