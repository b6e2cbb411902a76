import { expect, test } from 'vitest';
import { DAY } from '../../../testkit/story.ts';
import { addDomain, pauseDomain, setDomain } from '../sending/domains/change-domain.ts';
import { HOUR, MINUTE } from '../../../testkit/drafts.ts';
import {
  type MailStory,
  newMailStory,
  newVerifiedStory,
  openMailStage,
} from '../../../testkit/mail-stage.ts';

const stage = await openMailStage();
const { clock } = stage.server;

/** Signs up a user; the draft is due in an hour. */
async function signUp(story: MailStory, userId: string): Promise<void> {
  await story.user(userId, { email: `${userId}@home.test`, traits: { name: 'Ada' } });
  await story.event(userId, 'user_signed_up');
}

async function draftOf(story: MailStory, userId: string) {
  const [draft] = await story.drafts(userId);
  return draft && { state: draft.state, reason: draft.reason };
}

async function claimsOf({ projectId }: MailStory): Promise<number> {
  const rows = await stage.deps.db.query(
    `SELECT 1 FROM beckon.draft_move WHERE project_id = $1 AND action = 'claim'`,
    [projectId],
  );
  return rows.length;
}

const received = (story: MailStory): string[] => story.arrived().flatMap(({ to }) => to);

test('holds emails of an unverified domain with the reason, and sends them once it is verified', async () => {
  const story = await newMailStory(stage);
  expect(await story.check()).toBe('pending');
  await signUp(story, 'ada');
  await story.later(2 * HOUR);
  expect(received(story)).toEqual([]);
  expect(await draftOf(story, 'ada')).toEqual({ state: 'held', reason: 'domain_not_ready' });
  expect(Object.keys(await story.why('ada', 'welcome'))).toContain('domain_not_ready');
  await story.publish();
  expect(await story.check()).toBe('verified');
  await story.later(HOUR);
  expect(received(story)).toEqual(['ada@home.test']);
  expect(await draftOf(story, 'ada')).toEqual({ state: 'sent', reason: null });
});

test('does not verify a domain while any of its records is missing: the key, the policy or the bounce route', async () => {
  const story = await newMailStory(stage);
  await story.publish();
  for (const [type, name] of [
    ['TXT', `_dmarc.${story.domain}`],
    ['MX', `bounce.${story.domain}`],
  ] as const) {
    stage.dns.remove(type, name);
    expect(await story.check()).toBe('pending');
    await story.publish();
  }
  await signUp(story, 'ada');
  await story.later(2 * HOUR);
  expect(received(story)).toEqual([]);
});

test.each(['silence', 'servfail', 'refused'] as const)(
  'keeps a domain verified while its name server fails (%s), however long, and continues to send',
  async (failure) => {
    const story = await newVerifiedStory(stage);
    stage.dns.fail(failure);
    for (let day = 0; day < 5; day += 1) {
      for (let look = 0; look < 3; look += 1) {
        clock.advance(HOUR);
        expect(await story.check()).toBe('verified');
      }
      await story.later(DAY - 3 * HOUR);
    }
    await signUp(story, 'bob');
    await story.later(2 * HOUR);
    stage.dns.fail(null);
    expect(received(story)).toEqual(['bob@home.test']);
  },
);

test('holds the emails of a domain whose records are gone, and sends them when the records are back', async () => {
  const story = await newVerifiedStory(stage);
  stage.dns.remove('TXT', `_dmarc.${story.domain}`);
  const states: string[] = [];
  for (let look = 0; look < 4; look += 1) {
    states.push(await story.check());
    clock.advance(HOUR);
  }
  expect(states.at(0)).toBe('degraded');
  expect(states.at(-1)).toBe('failed');
  await signUp(story, 'cem');
  await story.later(2 * HOUR);
  expect(received(story)).toEqual([]);
  expect(await draftOf(story, 'cem')).toEqual({ state: 'held', reason: 'domain_not_ready' });
  await story.publish();
  expect(await story.check()).toBe('verified');
  await story.later(HOUR);
  expect(received(story)).toEqual(['cem@home.test']);
});

test.each([
  ['was never added', async () => {}],
  [
    'was added and never verified',
    async (story: MailStory) => {
      await addDomain(stage.deps, { projectId: story.projectId, name: `news.${story.domain}`, warm: true });
    },
  ],
])(
  'sends from a subdomain that %s, if the domain above it is verified, with a single claim',
  async (_, act) => {
    const story = await newVerifiedStory(stage);
    await act(story);
    await story.set({ from_address: `hello@news.${story.domain}` });
    await signUp(story, 'eve');
    await story.later(2 * HOUR);
    expect(received(story)).toEqual(['eve@home.test']);
    expect(await draftOf(story, 'eve')).toEqual({ state: 'sent', reason: null });
    expect(await claimsOf(story)).toBe(1);
  },
);

test('records one hold for a draft that waits for the throttle of its domain, and sends it when the throttle is off', async () => {
  const story = await newVerifiedStory(stage);
  const ref = { projectId: story.projectId, name: story.domain };
  await setDomain(stage.deps, ref, { throttle: '1/m' });
  const users = Array.from({ length: 20 }, (_, n) => `fay${n}`);
  for (const user of users) await signUp(story, user);
  await story.later(HOUR + 5 * MINUTE);
  expect(received(story)).toHaveLength(6);
  const holds = await stage.deps.db.query<{ moves: number }>(
    `SELECT count(*)::int AS moves FROM beckon.draft_move WHERE project_id = $1 AND action = 'hold' GROUP BY draft_id`,
    [story.projectId],
  );
  expect(Math.max(...holds.map(({ moves }) => moves))).toBe(1);
  await setDomain(stage.deps, ref, { throttle: 'off' });
  await story.later(1_000);
  expect(received(story)).toHaveLength(20);
});

test('sends a deferred email by the domain that it is signed for, whatever the sender is by then', async () => {
  const story = await newVerifiedStory(stage);
  const { projectId, domain } = story;
  const set = (name: string, state: string): Promise<unknown> =>
    stage.deps.db.query(`UPDATE beckon.sending_domain SET state = $3 WHERE project_id = $1 AND name = $2`, [
      projectId,
      name,
      state,
    ]);
  const other = `other-${domain}`;
  await addDomain(stage.deps, { projectId, name: other, warm: true });
  await set(other, 'verified');
  await signUp(story, 'gus');
  stage.engine.transport.setResult({ result: 'deferred', reason: 'deferred', reply: '451 4.3.0 later' });
  await story.later(HOUR);
  expect(await draftOf(story, 'gus')).toEqual({ state: 'held', reason: 'deferred' });
  await story.set({ from_address: `hello@${other}` });
  await set(domain, 'failed');
  const tried: string[] = [];
  stage.engine.transport.setResult(async (email) => {
    if (email.projectId === projectId) tried.push(email.userId);
    return { result: 'sent' };
  });
  await story.later(3 * HOUR);
  expect(tried).toEqual([]);
  expect(Object.keys(await story.why('gus', 'welcome'))).toContain('domain_not_ready');
  await set(domain, 'verified');
  await story.later(2 * HOUR);
  expect(tried).toEqual(['gus']);
});

const SLOTS = 5;

test.each([
  [
    'is paused',
    (story: MailStory) =>
      pauseDomain(stage.deps, { projectId: story.projectId, name: story.domain }, 'bounces'),
  ],
  [
    'fails',
    (story: MailStory) =>
      stage.deps.db.query(`UPDATE beckon.sending_domain SET state = 'failed' WHERE project_id = $1`, [
        story.projectId,
      ]),
  ],
])('holds a claimed email that waits for a slot when its domain %s', async (_, act) => {
  const story = await newVerifiedStory(stage);
  const users = Array.from({ length: SLOTS + 1 }, (__, n) => `dee${n}`);
  for (const user of users) await signUp(story, user);
  await story.later(HOUR - 1_000);
  clock.advance(2_000);
  const letGo = Promise.withResolvers<void>();
  let held = 0;
  stage.engine.transport.setResult(async ({ projectId }) => {
    // Other stories send emails in the same database.
    if (projectId !== story.projectId) return { result: 'sent' };
    held += 1;
    await letGo.promise;
    return { result: 'sent' };
  });
  const sending = stage.engine.sender.batch(story.projectId);
  await expect.poll(() => held, { timeout: 20_000 }).toBe(SLOTS);
  await act(story);
  letGo.resolve();
  await sending;
  await story.later(60_000);
  expect(held).toBe(SLOTS);
  const drafts = await story.drafts();
  expect(drafts.filter(({ state }) => state === 'sent')).toHaveLength(SLOTS);
  expect(drafts.filter(({ state }) => state !== 'sent')).toMatchObject([{ state: 'held' }]);
  const back = `UPDATE beckon.sending_domain SET state = 'verified', paused_at = NULL, paused_reason = NULL WHERE project_id = $1`;
  await stage.deps.db.query(back, [story.projectId]);
  await story.later(2 * HOUR);
  expect(held).toBe(SLOTS + 1);
});
