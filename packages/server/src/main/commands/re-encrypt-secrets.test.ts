import { describe, expect, test } from 'vitest';
import { fixedClock } from '../../../testing/factories/clock.ts';
import { openTestDatabase } from '../../../testing/factories/database.ts';
import { serverCommand } from '../../../testing/servers/server-command.ts';
import { createEncrypter } from '../../platform/crypto/encrypt.ts';
import { openListener } from '../../modules/webhooks/listeners/listener.ts';

const db = await openTestDatabase(fixedClock());
const [OLD, NEW] = ['the old secret key', 'the new secret key'];
const encrypter = createEncrypter(NEW, OLD, 'test');
const run = (...args: string[]) => serverCommand({ db, encrypter }, ['re-encrypt-secrets', ...args]);
const addListener = (personId: string, secret: string) =>
  openListener(
    { db, encrypter: createEncrypter(secret, null, 'test') },
    { projectId: 1, memberId: personId },
  );

describe('re-encrypt-secrets', () => {
  test('re-encrypts with the current key, and counts each kind', async () => {
    await addListener('ada', OLD);
    expect(await run('--json')).toMatchObject({
      code: 0,
      json: { re_encrypted: { webhook_listeners: 1, dkim_keys: 0 }, unreadable: [] },
    });
    const rows = await db.query<{ encrypted: Buffer }>(
      'SELECT encrypted_secret AS encrypted FROM beckon.webhook_listener',
    );
    expect(rows.map((row) => createEncrypter(NEW, null, 'test').isCurrent(row.encrypted))).toEqual([true]);
    expect((await run()).out).toMatch(/^Re-encrypted 0 secrets:\n {2}dkim keys: 0\n/);
  });

  test('exits with 1 and names a secret that no key decrypts', async () => {
    await addListener('eve', 'a key that was lost');
    const { code, out } = await run();
    expect(code).toBe(1);
    expect(out).toMatch(/1 secrets cannot be decrypted .*\n {2}webhook listener 1 eve\n$/);
  });
});
