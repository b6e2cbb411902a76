import type { Encrypter } from '../../../platform/crypto/encrypt.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { openImap } from '../../../platform/imap/session.ts';
import type { ResolveHost } from '../../../platform/outbound/host-guard.ts';
import { folderOf, imapAddressOf } from './kinds.ts';
import { failureOf } from './read-due-mailboxes.ts';
import { findEncryptedSource } from './reads.ts';
import { decryptSource } from './secrets.ts';

export type TestSourceDeps = {
  db: Tx;
  encrypter: Encrypter;
  resolveHostOf: (owner: { projectId: number }) => ResolveHost;
  ca?: string | undefined;
};

const TIMES = { connectMs: 5_000, silenceMs: 5_000, totalMs: 10_000 };

/** Signs in to the mailbox of a project and opens its folder. It reads no email. */
export async function testSource(
  { db, encrypter, resolveHostOf, ca }: TestSourceDeps,
  projectId: number,
): Promise<{ ok: boolean; message: string }> {
  const found = await findEncryptedSource(db, projectId);
  if (!found) return { ok: false, message: 'The reply source was deleted.' };
  if (found.source.kind !== 'imap')
    return { ok: false, message: 'Only a mailbox can be tested. Send an email to its address instead.' };
  const settings = decryptSource(encrypter, found);
  const folder = folderOf(settings);
  try {
    const imap = await openImap({
      address: imapAddressOf(settings),
      username: settings['username'] ?? '',
      password: settings['password'] ?? '',
      resolveHost: resolveHostOf({ projectId }),
      ca,
      ...TIMES,
    });
    try {
      await imap.examine(folder);
    } finally {
      imap.close();
    }
    return { ok: true, message: `Signed in, and opened the folder ${folder}.` };
  } catch (error) {
    return { ok: false, message: failureOf(error).failure };
  }
}
