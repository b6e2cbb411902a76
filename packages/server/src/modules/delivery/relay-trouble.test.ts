import { beforeEach, expect, test } from 'vitest';
import { HOUR, MINUTE } from '../../../testing/factories/drafts.ts';
import { newScenario, openStage, type Scenario } from '../../../testing/scenario.ts';
import type { SendResult } from '../../platform/mail/send-result.ts';

const stage = await openStage();
const { engine, server } = stage;
const { db } = server;

let pauses: number[] = [];
engine.transport.pause = (ms) => pauses.push(ms);
/** Addresses that are refused like a mailbox that does not exist. */
let gone = new Set<string>();

beforeEach(() => {
  pauses = [];
  gone = new Set();
  engine.transport.setResult(({ address }) =>
    Promise.resolve(gone.has(address) || gone.has('everybody') ? unknown(address) : { result: 'sent' }),
  );
});

const unknown = (address: string): SendResult => ({
  result: 'failed',
  reason: 'bounced',
  bounce: { class: 'hard', status: '5.1.1' },
  reply: `550 5.1.1 <${address}>: user unknown`,
});

async function openScenario(): Promise<Scenario> {
  const scenario = await newScenario(stage);
  await scenario.set({ autopilot: '1h', quiet_hours: 'off', frequency_cap: 'off', throttle: 'off' });
  return scenario;
}

async function sendTo(scenario: Scenario, ...users: string[]): Promise<void> {
  for (const userId of users) await scenario.user(userId, { email: `${userId}@x.org` });
  for (const userId of users) await scenario.event(userId, 'user_signed_up');
  await scenario.later(HOUR);
}

const many = (name: string, count: number): string[] =>
  Array.from({ length: count }, (_, i) => `${name}${i}`);

const suppressed = (scenario: Scenario): Promise<unknown[]> =>
  db.query(`SELECT value FROM beckon.suppression WHERE project_id = $1`, [scenario.projectId]);

/** Sends so many emails, two of them refused, that a third one with the same reply is deferred. */
async function sendUntilLimit(scenario: Scenario): Promise<void> {
  await sendTo(scenario, ...many('fine', 10));
  gone = new Set(['gone0@x.org', 'gone1@x.org', 'gone2@x.org']);
  await sendTo(scenario, 'gone0');
  await sendTo(scenario, 'gone1');
  expect(await suppressed(scenario)).toHaveLength(2);
  expect(pauses).toEqual([]);
}

test('defers the emails of a project with dead addresses, and stops no other project', async () => {
  const [scenario, other] = [await openScenario(), await openScenario()];
  await sendUntilLimit(scenario);
  await sendTo(other, 'ada');
  await sendTo(scenario, 'gone2');
  expect(await suppressed(scenario)).toEqual([]);
  expect((await scenario.drafts('gone2'))[0]).toMatchObject({ state: 'held', reason: 'deferred' });
  expect(pauses).toEqual([]);
});

test('pauses a relay that refuses two projects with the same reply, once for each email', async () => {
  const [scenario, other] = [await openScenario(), await openScenario()];
  await sendUntilLimit(scenario);
  gone = new Set(['everybody']);
  await sendTo(other, 'ada');
  await sendTo(scenario, 'gone2');
  expect(pauses).toEqual([5 * MINUTE]);
  // The waiting email is refused again and again, which does not pause the relay again.
  await scenario.later(3 * HOUR);
  const tries = engine.transport.emails.filter(({ userId }) => userId === 'gone2');
  expect(tries.length).toBeGreaterThan(3);
  expect((await scenario.drafts('gone2'))[0]).toMatchObject({ state: 'held', reason: 'deferred' });
  expect(pauses).toEqual([5 * MINUTE]);
  await sendTo(scenario, 'new');
  expect(pauses).toEqual([5 * MINUTE, 5 * MINUTE]);
});

test('pauses the relay for the only project that sends', async () => {
  const scenario = await openScenario();
  await scenario.later(2 * HOUR);
  await sendUntilLimit(scenario);
  await sendTo(scenario, 'gone2');
  expect(pauses).toEqual([5 * MINUTE]);
});
