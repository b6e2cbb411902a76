import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { HOUR, MINUTE } from '../../../testing/factories/drafts.ts';
import {
  type MailScenario,
  newVerifiedScenario,
  openMailStage,
} from '../../../testing/factories/mail-stage.ts';
import { addSmtpRelay, addTestRelay, relayDeps, testRelayOpener } from '../../../testing/factories/relays.ts';
import { type FakeMode, type FakeRelay, startFakeRelay } from '../../../testing/servers/relays/fake-relay.ts';
import type { HttpRelayKind } from '../../platform/relays/adapter.ts';
import { RELAY_ADAPTERS } from '../../platform/relays/adapters.ts';
import { acceptUnchanged, closeGate } from '../operations/restore/confirm-restore.ts';
import { addSuppression, setTopicUnsubscribes } from '../outcomes/suppressions/store.ts';
import { resolveDelivered } from '../outcomes/record/resolve-unknown.ts';
import { changeRelay, removeRelay, useRelay } from '../sending/relays/change-relay.ts';
import { disableRule } from '../rules/switch-rule.ts';
import type { RelayId } from '../sending/relays/relay.ts';

const stage = await openMailStage({ openRelays: (db) => testRelayOpener(db) });
const { db, clock } = stage.server;
const { sender } = stage.engine;

let provider: FakeRelay;
let scenario: MailScenario;
let relay: RelayId;
afterEach(() => provider.close());

/** The fake also has the secrets of its webhook. */
function settingsOf({ settings }: FakeRelay, kind: HttpRelayKind): Record<string, string> {
  const names = RELAY_ADAPTERS[kind].fields.map(({ name }) => name);
  return Object.fromEntries(Object.entries(settings).filter(([name]) => names.includes(name)));
}

async function use(kind: HttpRelayKind): Promise<void> {
  provider = await startFakeRelay(kind);
  scenario = await newVerifiedScenario(stage);
  const { projectId } = scenario;
  relay = await addTestRelay(db, { projectId, name: kind }, { kind, settings: settingsOf(provider, kind) });
}

/** Sends one email whose result is unknown. */
async function sendUnknown(mode: FakeMode, userId = 'ada'): Promise<void> {
  provider.modes.push(mode);
  await scenario.user(userId, { email: `${userId}@home.test` });
  await scenario.event(userId, 'user_signed_up');
  await scenario.later(HOUR);
  expect(await stateOf(userId)).toBe('unknown');
}

const stateOf = async (userId = 'ada'): Promise<string | undefined> =>
  (await scenario.drafts(userId)).find(({ resendOf }) => resendOf === null)?.state;

/** The actions on the draft of a user after its delivery became unknown, with their reasons. */
async function movesOf(userId = 'ada'): Promise<[string, string | null][]> {
  const rows = await db.query<{ action: string; reason: string | null }>(
    `SELECT m.action, m.reason FROM beckon.draft d
     JOIN beckon.draft_move m ON m.project_id = d.project_id AND m.draft_id = d.id
     WHERE d.project_id = $1 AND d.external_user_id = $2 AND d.resend_of IS NULL ORDER BY m.number`,
    [scenario.projectId, userId],
  );
  const at = rows.findIndex(({ action }) => action === 'mark_unknown');
  return rows.slice(at + 1).map(({ action, reason }) => [action, reason]);
}

async function askLater(ms = 11_000): Promise<number> {
  await scenario.later(ms);
  return sender.askAgain();
}

describe.each(['resend', 'brevo'] as const)('a relay of the kind %s', (kind) => {
  beforeEach(() => use(kind));

  test.each(['cut', 'server_error'] as const)('sends the email after %s, with the same key', async (mode) => {
    await sendUnknown(mode);
    expect(await sender.askAgain()).toBe(0);
    expect(await askLater()).toBe(1);
    expect(await stateOf()).toBe('sent');
    expect(provider.emails.map(({ to }) => to)).toEqual(['ada@home.test']);
    expect(provider.submissions).toBe(2);
    expect(await movesOf()).toEqual([
      ['ask_again', null],
      ['resolve', null],
    ]);
    const [email] = await db.query(
      `SELECT state, ask_at, asks, relay_id FROM beckon.email WHERE project_id = $1`,
      [scenario.projectId],
    );
    const relayId = provider.emails[0]?.id.replaceAll(/[<>]/g, '');
    expect(email).toEqual({ state: 'sent', ask_at: null, asks: 1, relay_id: relayId });
    expect(await askLater(HOUR)).toBe(0);
  });

  test('never sends an email twice that the provider had accepted', async () => {
    await sendUnknown('cut_after');
    expect(await askLater()).toBe(1);
    expect(provider.emails).toHaveLength(1);
    // Brevo does not repeat its answer, so the delivery is only settled by its report.
    expect(await stateOf()).toBe(kind === 'resend' ? 'sent' : 'unknown');
    expect(await movesOf()).toContainEqual(
      kind === 'resend' ? ['resolve', null] : ['keep_unknown', 'already_received'],
    );
    expect(await askLater(HOUR)).toBe(0);
    const [email] = await db.query<{ id: string }>(`SELECT id FROM beckon.email WHERE project_id = $1`, [
      scenario.projectId,
    ]);
    const now = clock.now();
    await resolveDelivered(db, { projectId: scenario.projectId, emailIds: [email?.id ?? ''], now });
    expect(await stateOf()).toBe('sent');
  });

  test('settles the email of a worker that was killed before the answer', async () => {
    const { projectId } = scenario;
    provider.modes.push('hang');
    await scenario.user('ada', { email: 'ada@home.test' });
    await scenario.event('ada', 'user_signed_up');
    await stage.engine.settle();
    clock.advance(HOUR);
    // This worker never learns the answer.
    void sender.begin(projectId);
    await expect.poll(() => provider.submissions).toBe(1);
    clock.advance(MINUTE);
    expect(await sender.giveUp()).toBe(0);
    clock.advance(2 * MINUTE);
    expect(await sender.giveUp()).toBe(1);
    expect(await stateOf()).toBe('unknown');
    expect(await askLater()).toBe(1);
    expect(await stateOf()).toBe('sent');
    expect(provider.emails).toHaveLength(1);
  });

  test('is asked again later after another failure, and by one worker at a time', async () => {
    await sendUnknown('cut');
    provider.modes.push('rate_limit', 'cut');
    expect(await askLater()).toBe(1);
    expect(await askLater()).toBe(0);
    expect(await askLater(MINUTE)).toBe(1);
    expect(await stateOf()).toBe('unknown');
    await scenario.later(2 * MINUTE + 1);
    const asked = await Promise.all([sender.askAgain(), sender.askAgain(), sender.askAgain()]);
    expect(asked.reduce((sum, count) => sum + count)).toBe(1);
    expect(await stateOf()).toBe('sent');
    expect([provider.submissions, provider.emails.length]).toEqual([4, 1]);
  });

  test('is not asked after its window', async () => {
    await sendUnknown('cut_after');
    const windowMs = RELAY_ADAPTERS[kind].idempotencyWindowMs ?? 0;
    expect(await askLater(windowMs - 2 * MINUTE)).toBe(0);
    expect(await movesOf()).toEqual([['keep_unknown', 'window_closed']]);
    expect(provider.submissions).toBe(1);
  });
});

describe('a provider that was asked', () => {
  test('fails the email if Resend refuses it, and keeps it unknown if Brevo does', async () => {
    await use('resend');
    await sendUnknown('server_error');
    provider.modes.push('refuse_email');
    await askLater();
    expect(await stateOf()).toBe('failed');
    await provider.close();
    await use('brevo');
    await sendUnknown('server_error');
    provider.modes.push('refuse_email');
    await askLater();
    expect(await movesOf()).toContainEqual(['keep_unknown', 'repeat_refused']);
  });

  test('is the one that got the first request, after the project moved to another', async () => {
    await use('resend');
    await sendUnknown('cut');
    const other = await startFakeRelay('resend');
    const { projectId } = scenario;
    await addTestRelay(
      db,
      { projectId, name: 'Other' },
      { kind: 'resend', settings: settingsOf(other, 'resend') },
    );
    await askLater();
    expect(await stateOf()).toBe('sent');
    expect([provider.emails.length, other.submissions]).toEqual([1, 0]);
    await other.close();
  });

  test.each(['postmark', 'mailgun', 'sendgrid', 'ses', 'postal'] as const)(
    'is none of the kind %s, which documents no key',
    async (kind) => {
      await use(kind);
      await sendUnknown('cut');
      expect(await askLater(HOUR)).toBe(0);
      expect([await stateOf(), await movesOf(), provider.submissions]).toEqual(['unknown', [], 1]);
    },
  );
});

describe('the checks before a question', () => {
  beforeEach(() => use('resend'));

  const suppress = () =>
    addSuppression(db, {
      projectId: scenario.projectId,
      kind: 'email',
      value: 'ada@home.test',
      reason: 'unsubscribed',
      until: null,
      createdAt: clock.now(),
      createdBy: 'ada',
    });
  const domainSql = `UPDATE beckon.sending_domain SET state = 'failed' WHERE project_id = $1`;
  const suspendSql = `UPDATE beckon.project SET suspended_at = now() WHERE project_id = $1`;
  const bytesSql = `DELETE FROM beckon.email_mime WHERE project_id = $1`;
  const sql = (text: string) => () => db.query(text, [scenario.projectId]);

  test.each<[string, () => Promise<unknown>]>([
    ['suppressed', suppress],
    ['paused', () => scenario.set({ paused: 'true' })],
    ['domain_not_ready', sql(domainSql)],
    ['suspended', sql(suspendSql)],
    ['bytes_deleted', sql(bytesSql)],
    ['relay_changed', () => changeRelay(relayDeps(db), relay, { settings: { api_key: 're_of_another' } })],
    [
      'relay_deleted',
      async () => {
        await useRelay(relayDeps(db), { projectId: scenario.projectId, domain: '', relay: null });
        await removeRelay(relayDeps(db), relay, 'resend');
      },
    ],
    ['address_changed', () => scenario.user('ada', { email: 'new@home.test' })],
    ['sent_again', () => scenario.act('ada', { kind: 'send_again', confirmed: true })],
    ['quiet_hours', () => scenario.set({ quiet_hours: '00:00-23:59' })],
  ])('keep the delivery unknown: %s', async (reason, change) => {
    await sendUnknown('cut');
    await change();
    await stage.engine.settle();
    const submissions = provider.submissions;
    clock.advance(11_000);
    if (reason === 'quiet_hours') clock.advance(23 * HOUR - 40 * MINUTE);
    expect(await sender.askAgain()).toBe(0);
    expect([await stateOf(), await movesOf().then((moves) => moves.at(-1))]).toEqual([
      'unknown',
      ['keep_unknown', reason],
    ]);
    expect(provider.submissions).toBe(submissions);
    // The reason is recorded once, and nothing is left to do.
    expect(await sender.askAgain()).toBe(0);
    expect((await movesOf()).filter(([action]) => action === 'keep_unknown')).toHaveLength(1);
  });

  test('keep the delivery unknown: topic_unsubscribed', async () => {
    const rule = {
      name: 'news',
      when: { event: 'news' },
      topic: 'news',
      steps: [{ draft: { subject: 'News', body: 'News' } }],
    };
    await scenario.rule(rule);
    provider.modes.push('cut');
    await scenario.user('ada', { email: 'ada@home.test' });
    await scenario.event('ada', 'news');
    await scenario.later(HOUR);
    const targets = [{ projectId: scenario.projectId, kind: 'user' as const, value: 'ada' }];
    await setTopicUnsubscribes(db, { targets, refused: ['news'], accepted: [], at: clock.now() });
    expect(await askLater()).toBe(0);
    expect(await movesOf()).toEqual([['keep_unknown', 'topic_unsubscribed']]);
  });

  test('keep the delivery unknown: rule_off', async () => {
    await sendUnknown('cut');
    const [draft] = await scenario.drafts('ada');
    await disableRule(db, { projectId: scenario.projectId, reference: draft?.rule ?? '', actor: 'ann' });
    expect(await askLater()).toBe(0);
    expect(await movesOf()).toEqual([['keep_unknown', 'rule_off']]);
  });

  test('wait for the end of quiet hours within the window', async () => {
    await sendUnknown('cut');
    const at = new Date(clock.now());
    const hour = (hours: number): string =>
      `${String((at.getUTCHours() + hours + 24) % 24).padStart(2, '0')}:00`;
    await scenario.set({ quiet_hours: `${hour(-1)}-${hour(2)}`, time_zone: 'UTC' });
    expect(await askLater()).toBe(0);
    expect([await movesOf(), provider.submissions]).toEqual([[], 1]);
    expect(await askLater(3 * HOUR)).toBe(1);
    expect(await stateOf()).toBe('sent');
  });

  test('ask nothing in a restored database, and nothing about earlier emails once it is confirmed', async () => {
    await sendUnknown('cut');
    await closeGate(db);
    expect(await askLater()).toBe(0);
    expect([await movesOf(), provider.submissions]).toEqual([[], 1]);
    await acceptUnchanged(db);
    expect(await sender.askAgain()).toBe(0);
    expect(await movesOf()).toEqual([['keep_unknown', 'database_restored']]);
  });

  test('leave the emails of another project and of an SMTP relay alone', async () => {
    await sendUnknown('cut');
    const first = scenario;
    scenario = await newVerifiedScenario(stage);
    await addSmtpRelay(db, { projectId: scenario.projectId, name: 'SMTP', port: stage.sink.port });
    await scenario.set({ paused: 'true' });
    clock.advance(11_000);
    expect(await sender.askAgain()).toBe(1);
    scenario = first;
    expect(await stateOf()).toBe('sent');
  });
});
