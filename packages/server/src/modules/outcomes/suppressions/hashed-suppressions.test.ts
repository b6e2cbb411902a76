import { beforeEach, describe, expect, inject, test } from 'vitest';
import { testDatabase } from '../../../../testing/factories/database.ts';
import { HOUR } from '../../../../testing/factories/drafts.ts';
import { findText } from '../../../../testing/oracles/find-text.ts';
import { inAdmin } from '../../../../testing/factories/global-setup.ts';
import { testHasher, testSendServices } from '../../../../testing/factories/send-services.ts';
import { putRecords } from '../../../../testing/factories/ingest-queue.ts';
import { DAY, newScenario, openStage, type Scenario } from '../../../../testing/scenario.ts';
import { idMaker } from '../../../platform/ids.ts';
import { silentLog } from '../../../platform/log.ts';
import { createEncrypter } from '../../../platform/crypto/encrypt.ts';
import { addSuppressions, setTopicUnsubscribes } from './store.ts';
import { listAllEntries, listSuppressions } from './reads.ts';
import { openSuppressionHasher } from '../../sending/suppressions/hasher.ts';
import type { SuppressionReason } from '../../sending/suppressions/suppression.ts';
import { type Database, openDatabase } from '../../../platform/db/database.ts';
import { createProject } from '../../administration/create-project.ts';
import { createProcessor } from '../../processing/process.ts';
import { findTypedEntry } from './hashed-suppressions.ts';
import { erasePerson } from '../../profiles/erase-user.ts';
import { liftSuppression, suppress } from './suppress.ts';
import { checkRecipients } from '../../explain/can-receive-email.ts';

const stage = await openStage();
const { db } = stage.server;

let scenario: Scenario;
let projectId = 0;
/** One address per test, so that a search of all tables finds nothing from an earlier test. */
let EMAIL = '';
let NORMALIZED = '';
beforeEach(async () => {
  scenario = await newScenario(stage);
  ({ projectId } = scenario);
  EMAIL = `Ada.Needle${projectId}@Bücher.example`;
  NORMALIZED = `ada.needle${projectId}@xn--bcher-kva.example`;
  await scenario.rule({
    name: 'greeter',
    when: { event: 'hello' },
    topic: 'news',
    steps: [{ draft: { subject: 'Hello', body: 'You' } }],
  });
});

const erase = (userId: string) =>
  erasePerson({ db, newId: idMaker(db.clock), hasher: testHasher }, { projectId, userId });

type EntryOptions = { reason?: SuppressionReason; until?: number | null };
async function suppressAddress({ reason = 'unsubscribed', until = null }: EntryOptions = {}): Promise<void> {
  await suppress(db, { projectId, kind: 'email', value: EMAIL, reason, until, actor: 'ann' });
}

async function eraseAda(entry: EntryOptions = {}): Promise<void> {
  await scenario.user('ada', { email: EMAIL });
  await stage.engine.settle();
  await suppressAddress(entry);
  await erase('ada');
}

/** Returns the ids of users whose emails were passed to the relay. */
async function mailedAfterHello(userId: string, ms = 3 * HOUR): Promise<string[]> {
  await scenario.event(userId, 'hello');
  await scenario.later(ms);
  const { emails } = stage.engine.transport;
  return emails.filter((email) => email.projectId === projectId).map((email) => email.userId);
}

const rows = async () =>
  (await listSuppressions(db, { projectId, limit: 10 })).map(({ kind, value, reason, fromErased }) => ({
    kind,
    value: value === testHasher.hash({ projectId, kind: 'email', value: EMAIL }).value ? 'hash' : value,
    reason,
    fromErased,
  }));
const HASHED = [{ kind: 'email_hash', value: 'hash', reason: 'unsubscribed', fromErased: true }];
const returned = () => [{ kind: 'email', value: NORMALIZED, reason: 'unsubscribed', fromErased: true }];

const gateOf = async (userId: string) => {
  const target = { projectId, kind: 'user' as const, value: userId };
  const { people } = await checkRecipients(db, {
    target,
    now: scenario.now(),
    sendServices: testSendServices(),
  });
  return people[0]?.gates.find(({ check }) => check === 'suppression');
};

describe('erasePerson', () => {
  test('keeps a suppressed address only as a hash', async () => {
    await eraseAda();
    expect(await rows()).toEqual(HASHED);
    expect(await findText(db, [EMAIL, NORMALIZED])).toEqual([]);
  });

  test('keeps addresses to which emails went before the user changed theirs only as hashes', async () => {
    await scenario.user('ada', { email: EMAIL });
    expect(await mailedAfterHello('ada')).toEqual(['ada']);
    await scenario.user('ada', { email: 'new@x.org' });
    await stage.engine.settle();
    await suppressAddress();
    await erase('ada');
    expect(await rows()).toEqual(HASHED);
    expect(await findText(db, [EMAIL, NORMALIZED])).toEqual([]);
  });

  test('leaves an address in plain text while another user has it, and hashes it with the last one', async () => {
    await scenario.user('bob', { email: EMAIL.toUpperCase() });
    await eraseAda();
    expect(await rows()).toMatchObject([{ kind: 'email', value: NORMALIZED }]);
    await erase('bob');
    expect(await rows()).toEqual(HASHED);
  });

  test('drops a suppression that has ended', async () => {
    await scenario.user('ada', { email: EMAIL });
    await stage.engine.settle();
    await suppressAddress({ reason: 'snoozed', until: scenario.now() + HOUR });
    await scenario.later(2 * HOUR);
    await erase('ada');
    expect(await rows()).toEqual([]);
  });

  test('does not touch the same address in another project', async () => {
    const other = await createProject(db, { name: 'Other' });
    const row = { kind: 'email', value: EMAIL, reason: 'manual', until: null } as const;
    await suppress(db, { projectId: other.id, ...row, actor: 'ann' });
    await eraseAda();
    expect(await listSuppressions(db, { projectId: other.id, limit: 10 })).toMatchObject([
      { kind: 'email', value: NORMALIZED },
    ]);
  });
});

describe('a user with the address of an erased user', () => {
  test('gets no email, and the reason says why', async () => {
    await eraseAda();
    await scenario.user('eve', { email: NORMALIZED.toUpperCase() });
    expect(await mailedAfterHello('eve')).toEqual([]);
    expect(await scenario.drafts('eve')).toMatchObject([{ state: 'canceled', reason: 'suppressed' }]);
    expect(await rows()).toEqual(returned());
    expect(await gateOf('eve')).toMatchObject({
      passes: false,
      words: 'suppressed: address or id of an erased user',
    });
  });

  test('gets no email after a change to that address, nor after a bulk import', async () => {
    await eraseAda();
    await scenario.user('eve', { email: 'eve@x.org' });
    await stage.engine.settle();
    expect(await rows()).toEqual(HASHED);
    const records = [{ external_user_id: 'eve', email: EMAIL }];
    await putRecords(db, { projectId, kind: 'users', priority: 'bulk', records });
    expect(await mailedAfterHello('eve')).toEqual([]);
    expect(await rows()).toEqual(returned());
  });

  test('gets no email about a topic that was refused', async () => {
    await scenario.set({ topics: 'news:Product news' });
    await scenario.user('ada', { email: EMAIL });
    await stage.engine.settle();
    const targets = [{ projectId, kind: 'email' as const, value: EMAIL }];
    await setTopicUnsubscribes(db, { targets, refused: ['news'], accepted: [], at: scenario.now() });
    await erase('ada');
    expect(await findText(db, [EMAIL, NORMALIZED])).toEqual([]);
    await scenario.user('eve', { email: EMAIL });
    expect(await mailedAfterHello('eve')).toEqual([]);
    expect(await scenario.drafts('eve')).toMatchObject([{ state: 'canceled', reason: 'topic_unsubscribed' }]);
  });

  test('gets emails again when a timed suppression ends', async () => {
    await eraseAda({ reason: 'snoozed', until: scenario.now() + DAY });
    await scenario.user('eve', { email: EMAIL });
    expect(await mailedAfterHello('eve')).toEqual([]);
    expect((await scenario.drafts('eve'))[0]).toMatchObject({ state: 'held', reason: 'suppressed' });
    await scenario.later(DAY);
    expect(stage.engine.transport.emails.at(-1)).toMatchObject({ projectId, userId: 'eve' });
  });

  test('gets emails after a member lifted the hash by typing the address', async () => {
    await eraseAda();
    const target = { projectId, kind: 'email', value: EMAIL } as const;
    const { suppression, targets } = await findTypedEntry(db, testHasher, target);
    expect(suppression).toMatchObject({ kind: 'email_hash', reason: 'unsubscribed' });
    expect(await liftSuppression(db, targets, 'ann')).toBe(true);
    expect(await findText(db, [EMAIL, NORMALIZED])).toEqual([]);
    expect(await findTypedEntry(db, testHasher, target)).toMatchObject({
      suppression: undefined,
      lift: { reason: 'unsubscribed', liftedBy: 'ann' },
    });
    await scenario.user('eve', { email: EMAIL });
    expect(await mailedAfterHello('eve')).toEqual(['eve']);
  });

  test('restores the suppressions of recipient and team, and merges them with later ones', async () => {
    await scenario.user('ada', { email: EMAIL });
    await stage.engine.settle();
    await suppressAddress({ reason: 'hard_bounce' });
    await suppressAddress({ reason: 'unsubscribed' });
    await erase('ada');
    // Suppressed again before any user has the address: one row, not two.
    const typed = { projectId, kind: 'email', value: EMAIL, reason: 'manual', until: null } as const;
    await suppress(db, { ...typed, actor: 'ann', hasher: testHasher });
    await scenario.user('eve', { email: EMAIL });
    await stage.engine.settle();
    const entries = await listAllEntries(db, { projectId, after: null, limit: 10 });
    expect(entries.map(({ kind, reason }) => `${kind} ${reason}`)).toEqual([
      'email unsubscribed',
      'email manual',
      'email hard_bounce',
    ]);
    await erase('eve');
    expect(await listAllEntries(db, { projectId, after: null, limit: 10 })).toHaveLength(3);
    expect(await rows()).toEqual(HASHED);
  });
});

test('a user with the id of an erased user gets no email if that id was suppressed', async () => {
  await scenario.user('needle-id', { email: EMAIL });
  await stage.engine.settle();
  const row = { kind: 'user', value: 'needle-id', reason: 'manual', until: null } as const;
  await suppress(db, { projectId, ...row, actor: 'ann' });
  await erase('needle-id');
  expect(await findText(db, ['needle-id'])).toEqual([]);
  await scenario.user('needle-id', { email: 'other@x.org' });
  expect(await mailedAfterHello('needle-id')).toEqual([]);
  await erase('needle-id');
});

describe('processing', () => {
  test('hashes nothing for a project that keeps no hashes', async () => {
    let hashed = 0;
    const hash: typeof testHasher.hash = (target) => {
      hashed += 1;
      return testHasher.hash(target);
    };
    const hasher = { ...testHasher, hash };
    const processor = createProcessor({ db, log: silentLog, newId: idMaker(db.clock), hasher });
    const send = async (id: string): Promise<number> => {
      await putRecords(db, {
        projectId,
        kind: 'users',
        records: [{ external_user_id: id, email: `${id}@x.org` }],
      });
      while ((await processor.batch('live', [projectId])).records > 0);
      return hashed;
    };
    expect(await send('u1')).toBe(0);
    await eraseAda();
    // The id and the address of a new user, and neither of a known one.
    expect(await send('u2')).toBe(2);
    expect(await send('u2')).toBe(2);
  });
});

describe('a restored database', () => {
  test('still matches the hashes, also with another secret key', async () => {
    const [OLD, NEW] = ['the secret key before the restore', 'the secret key after it'];
    const database = await testDatabase();
    const open = (connection: typeof database.connection): Promise<Database> =>
      openDatabase({ connection, clock: stage.server.clock, log: silentLog });
    const source = await open(database.connection);
    const encrypter = createEncrypter(OLD, null, 'secrets at rest');
    const hasher = await openSuppressionHasher({ db: source, clock: source.clock, encrypter });
    const { id } = await createProject(source, { name: 'Acme' });
    const target = { projectId: id, kind: 'email', value: EMAIL } as const;
    const entry = { reason: 'unsubscribed', until: null, createdAt: 0, createdBy: 'ann' } as const;
    await addSuppressions(source, [{ ...hasher.hash(target), ...entry }]);
    await source.close();

    const copy = new URL(database.url);
    copy.pathname = `${copy.pathname}_restored`;
    await inAdmin(
      inject('adminUrl'),
      `CREATE DATABASE ${copy.pathname.slice(1)} TEMPLATE ${database.url.split('/').at(-1)}`,
    );
    const restored = await open(() => ({ connectionString: copy.href }));
    try {
      const changed = createEncrypter(NEW, OLD, 'secrets at rest');
      await openSuppressionHasher({ db: restored, clock: restored.clock, encrypter: changed });
      const after = createEncrypter(NEW, null, 'secrets at rest');
      const opened = await openSuppressionHasher({ db: restored, clock: restored.clock, encrypter: after });
      expect((await findTypedEntry(restored, opened, target)).suppression).toMatchObject({
        reason: 'unsubscribed',
      });
    } finally {
      await restored.close();
      await inAdmin(inject('adminUrl'), `DROP DATABASE ${copy.pathname.slice(1)} WITH (FORCE)`);
      await database.drop();
    }
  });
});
