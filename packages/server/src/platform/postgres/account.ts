import { readFile } from 'node:fs/promises';
import { EmbeddedFailure } from './failure.ts';

export type Account = { name: string; uid: number; gid: number };

const CANDIDATES = ['postgres', 'nobody'];

export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/**
 * PostgreSQL refuses to run as root, so root uses an account that owns nothing else of ours. In a plain user's folder it uses that user,
 * who may later start Beckon without root. initdb requires an account with a name.
 */
export async function chooseAccount(owner: number): Promise<Account> {
  const accounts = parseAccounts(await readFile('/etc/passwd', 'utf8'));
  const own = accounts.find(({ uid }) => uid !== 0 && uid === owner);
  if (own) return own;
  for (const name of CANDIDATES) {
    const account = accounts.find((one) => one.name === name && one.uid !== 0);
    if (account) return account;
  }
  throw new EmbeddedFailure(
    'no_account',
    `As root the embedded PostgreSQL needs a user "postgres" or "nobody" in /etc/passwd, and there is neither. ` +
      `Create one, start Beckon as another user, or set DATABASE_URL`,
  );
}

export function parseAccounts(passwd: string): Account[] {
  return passwd.split('\n').flatMap((line) => {
    const [name, , uid, gid] = line.split(':');
    if (!name || !uid || !gid || name.startsWith('#')) return [];
    // macOS writes the uid of the account `nobody` as -2; the kernel takes the same number unsigned.
    return [{ name, uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 }];
  });
}
