import { describe, expect, test } from 'vitest';
import { jobRun } from '../../../testing/factories/job-run.ts';
import { endpointServer } from '../../../testing/servers/endpoint-server.ts';
import { type Browser, codeOf, PASSWORD, testTeam } from '../../../testing/factories/team.ts';
import { silentLog } from '../../platform/log.ts';
import { createEncrypter, type Encrypter } from '../../platform/crypto/encrypt.ts';
import { addSecret } from '../webhooks/endpoints/secrets.ts';
import { insertImport } from '../imports/store.ts';
import { NOTHING_COUNTED } from '../imports/import.ts';
import { reencryptImportKeys } from '../imports/re-encrypt-keys.ts';
import { openListener } from '../webhooks/listeners/listener.ts';
import { openSuppressionHasher } from '../sending/suppressions/hasher.ts';
import { secretReencrypter } from './re-encrypt-secrets.ts';

const server = await endpointServer();
const { db, clock } = server;

const OLD = 'the one that was in force before';
const NEW = 'the one that is in force from now on';
const old = createEncrypter(OLD, null, 'test');
const changing = createEncrypter(NEW, OLD, 'test');
const stranger = createEncrypter('a secret that is lost for good', null, 'test');

let warnings: object[] = [];
const warn = (found: object): void => void warnings.push(found);
const log = { ...silentLog, warn };
const job = () => secretReencrypter({ db, log, encrypter: changing, teamSecrets: [NEW, OLD] });

const idOf = (n: number): string => `00000000-0000-7000-8000-00000000000${n}`;
/** Inserts a DKIM key, a webhook secret, a listener and a Stripe import with the n-th id. */
async function fill(n: number, encrypter: Encrypter): Promise<void> {
  const [id, now] = [idOf(n), clock.now()];
  await db.query(
    `INSERT INTO beckon.dkim_key (project_id, domain_id, slot, state, public_key, private_key, created_at, changed_at)
     VALUES (1, $1, 'a', 'active', '', $2, $3, $3)`,
    [id, encrypter.encrypt(Buffer.from('key'), `dkim 1 ${id} a`), new Date(now)],
  );
  await addSecret(db, encrypter, { projectId: 1, endpointId: id, id, now, overlapMs: 0 });
  await openListener({ db, encrypter }, { projectId: 1, memberId: `p${n}` });
  const unused = { sizeBytes: null, fileModifiedAt: null, options: null, counts: NOTHING_COUNTED };
  const encryptedKey = encrypter.encrypt(Buffer.from('sk_test'), `import 1 ${id}`);
  const made = { kind: 'stripe', name: 'Stripe', state: 'ready', createdAt: now, createdBy: 'ada' } as const;
  await insertImport(db, { projectId: 1, id, encryptedKey, ...made, ...unused });
}

/** Counts, per kind, the values encrypted with the new secret. */
async function renewed(): Promise<number[]> {
  const kinds = [
    'private_key AS encrypted FROM beckon.dkim_key',
    'encrypted_secret AS encrypted FROM beckon.webhook_secret',
  ];
  const others = [
    'encrypted_secret AS encrypted FROM beckon.webhook_listener',
    'encrypted_key AS encrypted FROM beckon.import',
  ];
  const all = [...kinds, ...others].map((kind) => db.query<{ encrypted: Buffer }>(`SELECT ${kind}`));
  return (await Promise.all(all)).map(
    (rows) => rows.filter(({ encrypted }) => changing.isCurrent(encrypted)).length,
  );
}

test('logs a warning for an unreadable value, and re-encrypts values written with the old secret within ten minutes', async () => {
  await fill(1, stranger);
  await fill(2, old);
  const running = job();
  await running(jobRun());
  expect(await renewed()).toEqual([1, 1, 1, 1]);
  expect(warnings.map((warning) => ('bound_to' in warning ? warning.bound_to : warning))).toEqual([
    `dkim 1 ${idOf(1)} a`,
    `webhook secret 1 ${idOf(1)}`,
    'webhook listener 1 p1',
    `import 1 ${idOf(1)}`,
  ]);
  await fill(3, old);
  clock.advance(10 * 60_000);
  await running(jobRun());
  expect(await renewed()).toEqual([2, 2, 2, 2]);
});

test('does not restore a key that is removed while it is re-encrypted', async () => {
  await fill(4, old);
  const query: typeof db.query = async (text, values) => {
    if (text.startsWith('UPDATE')) await db.query(`UPDATE beckon.import SET encrypted_key = NULL`);
    return db.query(text, values);
  };
  expect(await reencryptImportKeys({ ...db, query }, { encrypter: changing, log })).toBe(1);
  expect(await db.query(`SELECT 1 FROM beckon.import WHERE encrypted_key IS NOT NULL`)).toEqual([]);
});

test('accepts authenticator codes and backup codes after the old secret is removed', async () => {
  const before = testTeam(server, { secret: OLD });
  const { ada, projectId } = await before.setUp();
  const { uri, backup_codes: codes } = (await ada.request('POST /two-factor/begin', { password: PASSWORD }))
    .json.data as { uri: string; backup_codes: string[] };
  expect((await ada.request('POST /two-factor/confirm', { code: codeOf(uri) })).status).toBe(200);
  // A value of another account that no key decrypts.
  const eve = await before.join(ada, { projectId, email: 'eve@x.org', role: 'viewer' });
  await eve.request('POST /two-factor/begin', { password: PASSWORD });
  await db.query(`UPDATE beckon.team_two_factor SET id = '0', secret = '$ba$1$00' WHERE verified = false`);
  warnings = [];
  await job()(jobRun());
  expect(warnings).toContainEqual(expect.objectContaining({ factor_id: '0' }));

  const after = testTeam(server, { secret: NEW });
  const enter = async (): Promise<Browser> => {
    const browser = after.browser();
    expect((await browser.request('POST /sign-in', { email: 'ada@x.org', password: PASSWORD })).status).toBe(
      200,
    );
    return browser;
  };
  expect((await (await enter()).request('POST /sign-in/totp', { code: codeOf(uri) })).status).toBe(200);
  expect((await (await enter()).request('POST /sign-in/backup-code', { code: codes[0] })).status).toBe(200);
});

describe('secretReencrypter', () => {
  test('re-encrypts the suppression key, which stays the same key', async () => {
    await db.query('DELETE FROM beckon.suppression_key');
    const open = (encrypter: Encrypter) => openSuppressionHasher({ db, clock, encrypter });
    const before = await open(old);
    await job()(jobRun());
    // Only the new secret decrypts it.
    const after = await open(createEncrypter(NEW, null, 'test'));
    expect(after.keyIdOf(1)).toBe(before.keyIdOf(1));
    await expect(open(old)).rejects.toThrow('Set SECRET_KEY_PREVIOUS');
  });
});
