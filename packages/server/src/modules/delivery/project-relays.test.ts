import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { HOUR, MINUTE } from '../../../testing/factories/drafts.ts';
import {
  type MailScenario,
  newVerifiedScenario,
  openMailStage,
} from '../../../testing/factories/mail-stage.ts';
import {
  addSmtpRelay,
  addTestRelay,
  relayDeps,
  smtpSettings,
  testRelayOpener,
} from '../../../testing/factories/relays.ts';
import { TOKEN_KEYS } from '../../../testing/factories/send-services.ts';
import { type FakeMode, type FakeRelay, startFakeRelay } from '../../../testing/servers/relays/fake-relay.ts';
import { type FaultRelay, startFaultRelay } from '../../../testing/servers/fault-relay.ts';
import { type Sink, startSink } from '../../../testing/servers/smtp-sink.ts';
import { readEmailToken } from '../../platform/crypto/email-token.ts';
import type { HttpRelayKind } from '../../platform/relays/adapter.ts';
import { RELAY_ADAPTERS } from '../../platform/relays/adapters.ts';
import { addDomain } from '../sending/domains/change-domain.ts';
import { checkDomain } from '../sending/domains/check-domain.ts';
import { requireDomain } from '../sending/domains/domain-view.ts';
import { addRelay, changeRelay, useRelay } from '../sending/relays/change-relay.ts';
import { findRelay } from '../sending/relays/reads.ts';
import { INSTALLATION } from '../sending/relays/relay.ts';
import { closeGate } from '../operations/restore/confirm-restore.ts';

const stage = await openMailStage({ openRelays: (db) => testRelayOpener(db) });
const { db } = stage.server;
const [first, second]: [Sink, Sink] = [await startSink(), await startSink()];
/** In front of the first relay. */
const failing: FaultRelay = await startFaultRelay({ upstream: { port: first.port } });
afterAll(async () => {
  await failing.close();
  await Promise.all([first.close(), second.close()]);
});
beforeEach(() => failing.plan(null));

async function signUp(scenario: MailScenario, ...users: string[]): Promise<void> {
  for (const userId of users) await scenario.user(userId, { email: `${userId}@home.test` });
  for (const userId of users) await scenario.event(userId, 'user_signed_up');
}

/** Approved drafts are sent at once, so that little time passes while a relay fails: it is tried every few seconds. */
async function signUpAndApprove(scenario: MailScenario, ...users: string[]): Promise<void> {
  await signUp(scenario, ...users);
  await stage.engine.settle();
  for (const userId of users) await scenario.act(userId, { kind: 'approve' });
  await scenario.later(MINUTE);
}

const arrivedAt = (sink: Sink, { domain }: MailScenario): string[] =>
  sink.emails
    .filter(({ raw }) => raw.includes(domain))
    .flatMap(({ to }) => to)
    .toSorted();

const stateOf = async (scenario: MailScenario, userId: string): Promise<string | undefined> =>
  (await scenario.drafts(userId))[0]?.state;

const relaysOf = ({ projectId }: MailScenario): Promise<{ user: string; relay: string | null }[]> =>
  db.query(
    `SELECT external_user_id AS user, relay FROM beckon.email WHERE project_id = $1 ORDER BY external_user_id`,
    [projectId],
  );

describe('the relay of an email', () => {
  test('is that of the project, and the relay of SMTP_URL without one', async () => {
    const [scenario, other] = [await newVerifiedScenario(stage), await newVerifiedScenario(stage)];
    const relay = await addSmtpRelay(db, { projectId: scenario.projectId, name: 'Main', port: first.port });
    await signUp(scenario, 'ada');
    await signUp(other, 'bob');
    await scenario.later(2 * HOUR);
    expect(arrivedAt(first, scenario)).toEqual(['ada@home.test']);
    expect(scenario.arrived()).toEqual([]);
    expect(other.arrived().flatMap(({ to }) => to)).toEqual(['bob@home.test']);
    expect(await relaysOf(scenario)).toEqual([{ user: 'ada', relay: relay.id }]);
    expect(await relaysOf(other)).toEqual([{ user: 'bob', relay: null }]);
  });

  test('is that of its domain before that of the project', async () => {
    const scenario = await newVerifiedScenario(stage);
    const { projectId, domain } = scenario;
    await addSmtpRelay(db, { projectId, name: 'Project', port: first.port });
    await addSmtpRelay(db, { projectId, name: 'Domain', port: second.port, domain });
    await signUp(scenario, 'ada');
    await scenario.later(2 * HOUR);
    expect(arrivedAt(second, scenario)).toEqual(['ada@home.test']);
    expect(arrivedAt(first, scenario)).toEqual([]);
  });

  test('is that of the installation for a project without one', async () => {
    const scenario = await newVerifiedScenario(stage);
    const deps = relayDeps(db);
    const settings = smtpSettings(second.port);
    const relay = await addRelay(deps, { projectId: INSTALLATION, kind: 'smtp', name: 'All', settings });
    await useRelay(deps, { projectId: INSTALLATION, domain: '', relay });
    await signUp(scenario, 'ada');
    await scenario.later(2 * HOUR);
    await useRelay(deps, { projectId: INSTALLATION, domain: '', relay: null });
    expect(arrivedAt(second, scenario)).toEqual(['ada@home.test']);
  });
});

/** Adds a second verified domain to the project, and sends from it from now on. */
async function changeSender(scenario: MailScenario): Promise<string> {
  const name = `second${scenario.projectId}.acme.test`;
  const key = { projectId: scenario.projectId, name };
  const added = await addDomain(stage.deps, { ...key, warm: true });
  for (const { type, name: host, value } of added.records) stage.dns.set(type, host, [value]);
  await checkDomain(stage.deps, await requireDomain(stage.deps.db, key));
  await scenario.set({ from_address: `hello@${name}` });
  return name;
}

describe('two domains with two relays', () => {
  test('a failing relay is paused, and the other one sends', async () => {
    const scenario = await newVerifiedScenario(stage);
    const { projectId, domain } = scenario;
    const relay = await addSmtpRelay(db, { projectId, name: 'First', port: failing.port, domain });
    failing.plan({ point: 'mail', act: 'drop', times: 1_000 });
    await signUpAndApprove(scenario, 'a1', 'a2', 'a3', 'a4');
    expect(await findRelay(db, relay)).toMatchObject({ failing: { message: expect.any(String) } });
    expect(await stateOf(scenario, 'a1')).toBe('held');

    const other = await changeSender(scenario);
    await addSmtpRelay(db, { projectId, name: 'Second', port: second.port, domain: other });
    await signUpAndApprove(scenario, 'b1', 'b2');
    const fromOther = second.emails.filter(({ raw }) => raw.includes(`hello@${other}`));
    expect(fromOther.flatMap(({ to }) => to).toSorted()).toEqual(['b1@home.test', 'b2@home.test']);
    expect(await stateOf(scenario, 'a1')).toBe('held');

    failing.plan(null);
    await scenario.later(HOUR);
    expect(arrivedAt(first, scenario)).toEqual(['a1', 'a2', 'a3', 'a4'].map((user) => `${user}@home.test`));
    expect(await findRelay(db, relay)).toMatchObject({ failing: null });
  });
});

describe('moving a project to another relay', () => {
  test('sends every email once, also those that the former relay deferred', async () => {
    const scenario = await newVerifiedScenario(stage);
    const { projectId } = scenario;
    await addSmtpRelay(db, { projectId, name: 'Old', port: failing.port });
    const users = Array.from({ length: 12 }, (_, i) => `u${i}`);
    await signUp(scenario, ...users.slice(0, 4));
    await scenario.later(2 * HOUR);
    failing.plan({ point: 'rcpt', act: 'defer', times: 1_000 });
    await signUpAndApprove(scenario, ...users.slice(4, 8));
    expect(await stateOf(scenario, 'u4')).toBe('held');
    const moved = await addSmtpRelay(db, { projectId, name: 'New', port: second.port });
    await signUp(scenario, ...users.slice(8));
    await scenario.later(8 * HOUR);
    expect([...arrivedAt(first, scenario), ...arrivedAt(second, scenario)].toSorted()).toEqual(
      users.map((user) => `${user}@home.test`).toSorted(),
    );
    expect(arrivedAt(second, scenario)).toHaveLength(8);
    const relays = new Map((await relaysOf(scenario)).map(({ user, relay }) => [user, relay]));
    expect(relays.get('u4')).toBe(moved.id);
    expect(relays.get('u0')).not.toBe(moved.id);
  });

  test('never sends an email again whose delivery is unknown', async () => {
    const scenario = await newVerifiedScenario(stage);
    const { projectId } = scenario;
    await addSmtpRelay(db, { projectId, name: 'Old', port: failing.port });
    failing.plan({ point: 'after_dot', act: 'drop', times: 1 });
    await signUp(scenario, 'ada');
    await scenario.later(2 * HOUR);
    expect(await stateOf(scenario, 'ada')).toBe('unknown');
    await addSmtpRelay(db, { projectId, name: 'New', port: second.port });
    await scenario.later(24 * HOUR);
    expect(await stateOf(scenario, 'ada')).toBe('unknown');
    expect(arrivedAt(first, scenario)).toEqual(['ada@home.test']);
    expect(arrivedAt(second, scenario)).toEqual([]);
  });
});

/** The fake also has the secrets of its webhook. */
function settingsOf({ settings }: FakeRelay, kind: HttpRelayKind): Record<string, string> {
  const names = RELAY_ADAPTERS[kind].fields.map(({ name }) => name);
  return Object.fromEntries(Object.entries(settings).filter(([name]) => names.includes(name)));
}

describe.each(['postmark', 'resend', 'ses'] as const)('a relay of the kind %s', (kind) => {
  let provider: FakeRelay;
  beforeEach(async () => {
    provider = await startFakeRelay(kind);
  });
  afterEach(() => provider.close());
  const use = ({ projectId }: MailScenario) =>
    addTestRelay(db, { projectId, name: kind }, { kind, settings: settingsOf(provider, kind) });
  const accepted = (): string[] => provider.emails.map(({ to }) => to).toSorted();

  test('sends with a token of the email, and records the relay and the id of the provider', async () => {
    const scenario = await newVerifiedScenario(stage);
    const relay = await use(scenario);
    await signUp(scenario, 'ada');
    await scenario.later(2 * HOUR);
    expect(accepted()).toEqual(['ada@home.test']);
    const [email] = await db.query<{ id: string; relay: string; relay_id: string }>(
      `SELECT id, relay, relay_id FROM beckon.email WHERE project_id = $1`,
      [scenario.projectId],
    );
    expect(email).toMatchObject({ relay: relay.id, relay_id: provider.emails[0]?.id });
    const token = (provider.emails[0]?.token ?? '').replace('-', '.');
    expect(readEmailToken(token, 'relay', TOKEN_KEYS)).toEqual({
      projectId: scenario.projectId,
      emailId: email?.id,
    });
    expect(readEmailToken(token, 'bounce', TOKEN_KEYS)).toBeNull();
  });

  test('is left for an SMTP relay without losing or doubling an email', async () => {
    const scenario = await newVerifiedScenario(stage);
    await use(scenario);
    await signUp(scenario, 'u0', 'u1');
    await scenario.later(2 * HOUR);
    provider.modes.push(...Array.from({ length: 200 }, (): FakeMode => 'refuse_account'));
    await signUpAndApprove(scenario, 'u2', 'u3', 'u4', 'u5');
    expect(await stateOf(scenario, 'u2')).toBe('held');
    await addSmtpRelay(db, { projectId: scenario.projectId, name: 'SMTP', port: second.port });
    await signUp(scenario, 'u6');
    await scenario.later(8 * HOUR);
    expect(accepted()).toEqual(['u0@home.test', 'u1@home.test']);
    expect(arrivedAt(second, scenario)).toEqual(['u2', 'u3', 'u4', 'u5', 'u6'].map((u) => `${u}@home.test`));
  });

  test.each(['cut_after', 'hang'] as const)(
    'leaves an email unknown after %s, on any relay',
    async (mode) => {
      const scenario = await newVerifiedScenario(stage);
      await use(scenario);
      provider.modes.push(mode);
      await signUp(scenario, 'ada');
      await scenario.later(2 * HOUR);
      expect(await stateOf(scenario, 'ada')).toBe('unknown');
      await addSmtpRelay(db, { projectId: scenario.projectId, name: 'SMTP', port: second.port });
      await scenario.later(24 * HOUR);
      expect(await stateOf(scenario, 'ada')).toBe('unknown');
      expect(provider.submissions).toBe(1);
      expect(arrivedAt(second, scenario)).toEqual([]);
    },
  );
});

test('an email whose worker is killed before the answer is unknown, and no relay gets it again', async () => {
  const scenario = await newVerifiedScenario(stage);
  const { projectId } = scenario;
  await addSmtpRelay(db, { projectId, name: 'Old', port: failing.port });
  failing.plan({ point: 'after_dot', act: 'hang', times: 1 });
  await signUp(scenario, 'ada');
  await stage.engine.settle();
  stage.server.clock.advance(2 * HOUR);
  // This worker never learns the answer.
  void stage.engine.sender.begin(projectId);
  await failing.hung;
  stage.server.clock.advance(16 * MINUTE);
  expect(await stage.engine.sender.giveUp()).toBe(1);
  expect(await stateOf(scenario, 'ada')).toBe('unknown');
  await addSmtpRelay(db, { projectId, name: 'New', port: second.port });
  await scenario.later(24 * HOUR);
  expect(await stateOf(scenario, 'ada')).toBe('unknown');
  expect(arrivedAt(first, scenario)).toEqual(['ada@home.test']);
  expect(arrivedAt(second, scenario)).toEqual([]);
});

test('changed settings apply to the next email without a restart', async () => {
  const scenario = await newVerifiedScenario(stage);
  const relay = await addSmtpRelay(db, { projectId: scenario.projectId, name: 'Main', port: first.port });
  await signUp(scenario, 'ada');
  await scenario.later(2 * HOUR);
  await changeRelay(relayDeps(db), relay, { settings: { port: String(second.port) } });
  await signUp(scenario, 'bob');
  await scenario.later(2 * HOUR);
  expect(arrivedAt(first, scenario)).toEqual(['ada@home.test']);
  expect(arrivedAt(second, scenario)).toEqual(['bob@home.test']);
});

test('a restored database sends nothing through a relay until the restore is confirmed', async () => {
  const scenario = await newVerifiedScenario(stage);
  await addSmtpRelay(db, { projectId: scenario.projectId, name: 'Main', port: first.port });
  await signUp(scenario, 'ada');
  await stage.engine.settle();
  await closeGate(db);
  stage.server.clock.advance(2 * HOUR);
  expect(await stage.engine.sender.maySend()).toBe(false);
  await stage.engine.sender.batch(scenario.projectId);
  expect(arrivedAt(first, scenario)).toEqual([]);
  expect(await relaysOf(scenario)).toEqual([]);
});
