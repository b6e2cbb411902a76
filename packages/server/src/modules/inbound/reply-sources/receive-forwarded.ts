import type { EmailName } from '../../../platform/crypto/email-token.ts';
import type { ReceiveDeps } from '../mail/receive-mail.ts';
import { findSource } from './reads.ts';
import { receiveFromSource } from './receive-from-source.ts';
import { countResult } from './store.ts';

/** Processes an email that a mailbox forwarded to the address of a reply source. The address of a deleted source has no effect. */
export async function receiveForwarded(
  deps: ReceiveDeps,
  { source: { projectId, emailId: id }, raw }: { source: EmailName; raw: Buffer },
): Promise<void> {
  const { db } = deps;
  const source = await findSource(db, projectId);
  if (source?.id !== id || source.kind !== 'forwarding') return;
  const result = await receiveFromSource(deps, { projectId, raw });
  await countResult(db, { projectId, id, result, readAt: db.clock.now() });
}
