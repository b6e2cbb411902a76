import { describe, expect, test } from 'vitest';
import { endpointServer } from '../../testkit/endpoint-server.ts';
import { type Browser, codeOf, PASSWORD, testTeam } from '../../testkit/team.ts';
import { silentLog } from '../base/log.ts';
import { createSealer, type Sealer } from '../base/seal.ts';
import { addSecret } from '../features/endpoints/index.ts';
import { insertImport, NOTHING_COUNTED, resealImportKeys } from '../features/imports/index.ts';
import { openListener } from '../features/listeners/index.ts';
import { openSuppressionHasher } from '../features/suppressions/index.ts';
import { resealSecrets } from './index.ts';

const server = await endpointServer();
const { db, clock } = server;

const OLD = 'the one that was in force before';
const NEW = 'the one that is in force from now on';
const old = createSealer(OLD, null, 'test');
const changing = createSealer(NEW, OLD, 'test');
const stranger = createSealer('a secret that nobody knows any more', null, 'test');

let told: object[] = [];
const warn = (found: object): void => void told.push(found);
const log = { ...silentLog, warn };
const job = () => resealSecrets({ db, log, sealer: changing, teamSecrets: [NEW, OLD] });
const goOn = (): boolean => false;

const idOf = (n: number): string => `00000000-0000-7000-8000-00000000000${n}`;
/** A DKIM key, a webhook secret, a listener and an import from Stripe, each of the n-th place. */
async function fill(n: number, sealer: Sealer): Promise<void> {
  const [id, now] = [idOf(n), clock.now()];
  await db.query(
    `INSERT INTO beckon.dkim_key (project_id, domain_id, slot, state, public_key, private_key, created_at, changed_at)
     VALUES (1, $1, 'a', 'active', '', $2, $3, $3)`,
    [id, sealer.seal(Buffer.from('key'), `dkim 1 ${id} a`), new Date(now)],
  );
  await addSecret(db, sealer, { projectId: 1, endpointId: id, id, now, overlapMs: 0 });
  await openListener({ db, sealer }, { projectId: 1, personId: `p${n}` });
  const unused = { sizeBytes: null, fileModifiedAt: null, options: null, counts: NOTHING_COUNTED };
  const sealedKey = sealer.seal(Buffer.from('sk_test'), `import 1 ${id}`);
  const made = { kind: 'stripe', name: 'Stripe', state: 'ready', createdAt: now, createdBy: 'ada' } as const;
  await insertImport(db, { projectId: 1, id, sealedKey, ...made, ...unused });
}

/** How many are sealed under the new secret, of each kind. */
async function renewed(): Promise<number[]> {
  const kinds = ['private_key AS sealed FROM beckon.dkim_key', 'sealed FROM beckon.webhook_secret'];
  const others = ['sealed FROM beckon.webhook_listener', 'sealed_key AS sealed FROM beckon.import'];
  const all = [...kinds, ...others].map((kind) => db.query<{ sealed: Buffer }>(`SELECT ${kind}`));
  return (await Promise.all(all)).map(
    (rows) => rows.filter(({ sealed }) => changing.isCurrent(sealed)).length,
  );
}

test('one that cannot be read is warned of, and what another process seals under the old secret follows within ten minutes', async () => {
  await fill(1, stranger);
  await fill(2, old);
  const running = job();
  await running.run(goOn);
  expect(await renewed()).toEqual([1, 1, 1, 1]);
  expect(told.map((one) => ('bound_to' in one ? one.bound_to : one))).toEqual([
    `dkim 1 ${idOf(1)} a`,
    `webhook secret 1 ${idOf(1)}`,
    'webhook listener 1 p1',
    `import 1 ${idOf(1)}`,
  ]);
  await fill(3, old);
  clock.advance(10 * 60_000);
  await running.run(goOn);
  expect(await renewed()).toEqual([2, 2, 2, 2]);
});

test('a key that is taken away while it is sealed anew does not come back', async () => {
  await fill(4, old);
  const query: typeof db.query = async (text, values) => {
    if (text.startsWith('UPDATE')) await db.query(`UPDATE beckon.import SET sealed_key = NULL`);
    return db.query(text, values);
  };
  expect(await resealImportKeys({ ...db, query }, { sealer: changing, log })).toBe(1);
  expect(await db.query(`SELECT 1 FROM beckon.import WHERE sealed_key IS NOT NULL`)).toEqual([]);
});

test('who has an authenticator app signs in by it, and by its backup codes, once the old secret is given up', async () => {
  const before = testTeam(server, { secret: OLD });
  const { ada, projectId } = await before.setUp();
  const { uri, backup_codes: codes } = (await ada.ask('POST /two-factor/begin', { password: PASSWORD })).json
    .data as { uri: string; backup_codes: string[] };
  expect((await ada.ask('POST /two-factor/confirm', { code: codeOf(uri) })).status).toBe(200);
  // Somebody else's, of which nobody can read anything.
  const eve = await before.join(ada, { projectId, email: 'eve@x.org', role: 'viewer' });
  await eve.ask('POST /two-factor/begin', { password: PASSWORD });
  await db.query(`UPDATE beckon.team_two_factor SET id = '0', secret = '$ba$1$00' WHERE verified = false`);
  told = [];
  await job().run(goOn);
  expect(told).toContainEqual(expect.objectContaining({ factor_id: '0' }));

  const after = testTeam(server, { secret: NEW });
  const enter = async (): Promise<Browser> => {
    const one = after.browser();
    expect((await one.ask('POST /sign-in', { email: 'ada@x.org', password: PASSWORD })).status).toBe(200);
    return one;
  };
  expect((await (await enter()).ask('POST /sign-in/totp', { code: codeOf(uri) })).status).toBe(200);
  expect((await (await enter()).ask('POST /sign-in/backup-code', { code: codes[0] })).status).toBe(200);
});

describe('resealSecrets', () => {
  test('re-encrypts the suppression key, which stays the same key', async () => {
    await db.query('DELETE FROM beckon.suppression_key');
    const open = (sealer: Sealer) => openSuppressionHasher({ db, clock, sealer });
    const before = await open(old);
    await job().run(goOn);
    // The new secret alone opens it.
    const after = await open(createSealer(NEW, null, 'test'));
    expect(after.keyIdOf(1)).toBe(before.keyIdOf(1));
    await expect(open(old)).rejects.toThrow('Set SECRET_KEY_PREVIOUS');
  });
});
