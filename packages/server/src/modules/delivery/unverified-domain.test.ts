import { expect, test } from 'vitest';
import { DAY } from '../../../testing/scenario.ts';
import { addDomain, pauseDomain, setDomain } from '../sending/domains/change-domain.ts';
import { HOUR, MINUTE } from '../../../testing/factories/drafts.ts';
import {
  type MailScenario,
  newMailScenario,
  newVerifiedScenario,
  openMailStage,
} from '../../../testing/factories/mail-stage.ts';

const stage = await openMailStage();
const { clock } = stage.server;

/** Signs up a user; the draft is due in an hour. */
async function signUp(scenario: MailScenario, userId: string): Promise<void> {
  await scenario.user(userId, { email: `${userId}@home.test`, traits: { name: 'Ada' } });
  await scenario.event(userId, 'user_signed_up');
}

async function draftOf(scenario: MailScenario, userId: string) {
  const [draft] = await scenario.drafts(userId);
  return draft && { state: draft.state, reason: draft.reason };
}

async function claimsOf({ projectId }: MailScenario): Promise<number> {
  const rows = await stage.deps.db.query(
    `SELECT 1 FROM beckon.draft_move WHERE project_id = $1 AND action = 'claim'`,
    [projectId],
  );
  return rows.length;
}

const received = (scenario: MailScenario): string[] => scenario.arrived().flatMap(({ to }) => to);

test('holds emails of an unverified domain with the reason, and sends them once it is verified', async () => {
  const scenario = await newMailScenario(stage);
  expect(await scenario.check()).toBe('pending');
  await signUp(scenario, 'ada');
  await scenario.later(2 * HOUR);
  expect(received(scenario)).toEqual([]);
  expect(await draftOf(scenario, 'ada')).toEqual({ state: 'held', reason: 'domain_not_ready' });
  expect(Object.keys(await scenario.why('ada', 'welcome'))).toContain('domain_not_ready');
  await scenario.publish();
  expect(await scenario.check()).toBe('verified');
  await scenario.later(HOUR);
  expect(received(scenario)).toEqual(['ada@home.test']);
  expect(await draftOf(scenario, 'ada')).toEqual({ state: 'sent', reason: null });
});

test('does not verify a domain while any of its records is missing: the key, the policy or the bounce route', async () => {
  const scenario = await newMailScenario(stage);
  await scenario.publish();
  for (const [type, name] of [
    ['TXT', `_dmarc.${scenario.domain}`],
    ['MX', `bounce.${scenario.domain}`],
  ] as const) {
    stage.dns.remove(type, name);
    expect(await scenario.check()).toBe('pending');
    await scenario.publish();
  }
  await signUp(scenario, 'ada');
  await scenario.later(2 * HOUR);
  expect(received(scenario)).toEqual([]);
});

test.each(['silence', 'servfail', 'refused'] as const)(
  'keeps a domain verified while its name server fails (%s), however long, and continues to send',
  async (failure) => {
    const scenario = await newVerifiedScenario(stage);
    stage.dns.fail(failure);
    for (let day = 0; day < 5; day += 1) {
      for (let look = 0; look < 3; look += 1) {
        clock.advance(HOUR);
        expect(await scenario.check()).toBe('verified');
      }
      await scenario.later(DAY - 3 * HOUR);
    }
    await signUp(scenario, 'bob');
    await scenario.later(2 * HOUR);
    stage.dns.fail(null);
    expect(received(scenario)).toEqual(['bob@home.test']);
  },
);

test('holds the emails of a domain whose records are gone, and sends them when the records are back', async () => {
  const scenario = await newVerifiedScenario(stage);
  stage.dns.remove('TXT', `_dmarc.${scenario.domain}`);
  const states: string[] = [];
  for (let look = 0; look < 4; look += 1) {
    states.push(await scenario.check());
    clock.advance(HOUR);
  }
  expect(states.at(0)).toBe('degraded');
  expect(states.at(-1)).toBe('failed');
  await signUp(scenario, 'cem');
  await scenario.later(2 * HOUR);
  expect(received(scenario)).toEqual([]);
  expect(await draftOf(scenario, 'cem')).toEqual({ state: 'held', reason: 'domain_not_ready' });
  await scenario.publish();
  expect(await scenario.check()).toBe('verified');
  await scenario.later(HOUR);
  expect(received(scenario)).toEqual(['cem@home.test']);
});

test.each([
  ['was never added', async () => {}],
  [
    'was added and never verified',
    async (scenario: MailScenario) => {
      await addDomain(stage.deps, {
        projectId: scenario.projectId,
        name: `news.${scenario.domain}`,
        warm: true,
      });
    },
  ],
])(
  'sends from a subdomain that %s, if the domain above it is verified, with a single claim',
  async (_, act) => {
    const scenario = await newVerifiedScenario(stage);
    await act(scenario);
    await scenario.set({ from_address: `hello@news.${scenario.domain}` });
    await signUp(scenario, 'eve');
    await scenario.later(2 * HOUR);
    expect(received(scenario)).toEqual(['eve@home.test']);
    expect(await draftOf(scenario, 'eve')).toEqual({ state: 'sent', reason: null });
    expect(await claimsOf(scenario)).toBe(1);
  },
);

test('records one hold for a draft that waits for the throttle of its domain, and sends it when the throttle is off', async () => {
  const scenario = await newVerifiedScenario(stage);
  const ref = { projectId: scenario.projectId, name: scenario.domain };
  await setDomain(stage.deps, ref, { throttle: '1/m' });
  const users = Array.from({ length: 20 }, (_, n) => `fay${n}`);
  for (const user of users) await signUp(scenario, user);
  await scenario.later(HOUR + 5 * MINUTE);
  expect(received(scenario)).toHaveLength(6);
  const holds = await stage.deps.db.query<{ moves: number }>(
    `SELECT count(*)::int AS moves FROM beckon.draft_move WHERE project_id = $1 AND action = 'hold' GROUP BY draft_id`,
    [scenario.projectId],
  );
  expect(Math.max(...holds.map(({ moves }) => moves))).toBe(1);
  await setDomain(stage.deps, ref, { throttle: 'off' });
  await scenario.later(1_000);
  expect(received(scenario)).toHaveLength(20);
});

test('sends a deferred email by the domain that it is signed for, whatever the sender is by then', async () => {
  const scenario = await newVerifiedScenario(stage);
  const { projectId, domain } = scenario;
  const set = (name: string, state: string): Promise<unknown> =>
    stage.deps.db.query(`UPDATE beckon.sending_domain SET state = $3 WHERE project_id = $1 AND name = $2`, [
      projectId,
      name,
      state,
    ]);
  const other = `other-${domain}`;
  await addDomain(stage.deps, { projectId, name: other, warm: true });
  await set(other, 'verified');
  await signUp(scenario, 'gus');
  stage.engine.transport.setResult({ result: 'deferred', reason: 'deferred', reply: '451 4.3.0 later' });
  await scenario.later(HOUR);
  expect(await draftOf(scenario, 'gus')).toEqual({ state: 'held', reason: 'deferred' });
  await scenario.set({ from_address: `hello@${other}` });
  await set(domain, 'failed');
  const tried: string[] = [];
  stage.engine.transport.setResult(async (email) => {
    if (email.projectId === projectId) tried.push(email.userId);
    return { result: 'sent' };
  });
  await scenario.later(3 * HOUR);
  expect(tried).toEqual([]);
  expect(Object.keys(await scenario.why('gus', 'welcome'))).toContain('domain_not_ready');
  await set(domain, 'verified');
  await scenario.later(2 * HOUR);
  expect(tried).toEqual(['gus']);
});

const SLOTS = 5;

test.each([
  [
    'is paused',
    (scenario: MailScenario) =>
      pauseDomain(stage.deps, { projectId: scenario.projectId, name: scenario.domain }, 'bounces'),
  ],
  [
    'fails',
    (scenario: MailScenario) =>
      stage.deps.db.query(`UPDATE beckon.sending_domain SET state = 'failed' WHERE project_id = $1`, [
        scenario.projectId,
      ]),
  ],
])('holds a claimed email that waits for a slot when its domain %s', async (_, act) => {
  const scenario = await newVerifiedScenario(stage);
  const users = Array.from({ length: SLOTS + 1 }, (__, n) => `dee${n}`);
  for (const user of users) await signUp(scenario, user);
  await scenario.later(HOUR - 1_000);
  clock.advance(2_000);
  const letGo = Promise.withResolvers<void>();
  let held = 0;
  stage.engine.transport.setResult(async ({ projectId }) => {
    // Other scenarios send emails in the same database.
    if (projectId !== scenario.projectId) return { result: 'sent' };
    held += 1;
    await letGo.promise;
    return { result: 'sent' };
  });
  const sending = stage.engine.sender.batch(scenario.projectId);
  await expect.poll(() => held, { timeout: 20_000 }).toBe(SLOTS);
  await act(scenario);
  letGo.resolve();
  await sending;
  await scenario.later(60_000);
  expect(held).toBe(SLOTS);
  const drafts = await scenario.drafts();
  expect(drafts.filter(({ state }) => state === 'sent')).toHaveLength(SLOTS);
  expect(drafts.filter(({ state }) => state !== 'sent')).toMatchObject([{ state: 'held' }]);
  const back = `UPDATE beckon.sending_domain SET state = 'verified', paused_at = NULL, paused_reason = NULL WHERE project_id = $1`;
  await stage.deps.db.query(back, [scenario.projectId]);
  await scenario.later(2 * HOUR);
  expect(held).toBe(SLOTS + 1);
});
