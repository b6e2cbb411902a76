import { authenticateStoredMail } from '../mail/authenticate.ts';
import { readSourceRecipients } from '../mail/match-email.ts';
import {
  type ReceiveDeps,
  receiveFor,
  type InboundContext,
  type ReceiveResult,
} from '../mail/receive-mail.ts';
import { inboundIdOf } from '../mail/reply-of.ts';
import { MAIL_BYTES_MAX } from '../classification/read-mail.ts';
import { isKnownEmail } from './reads.ts';
import type { SourceResult } from './source.ts';
import { insertKnownEmail } from './store.ts';

/**
 * Processes an email of a reply source, with the same rules as one that arrives by SMTP. It concerns emails of this project only. An email
 * that takes effect is remembered last: after a crash before that, it is read again, and recording an outcome again changes nothing.
 */
export async function receiveFromSource(
  deps: ReceiveDeps,
  { projectId, raw }: { projectId: number; raw: Buffer },
): Promise<SourceResult> {
  if (raw.length > MAIL_BYTES_MAX) return 'too_large';
  const envelope = { from: null, to: [] };
  const read = await deps.read({ raw, envelope });
  if (!read) return 'unreadable';
  const { mail } = read;
  const inboundId = inboundIdOf(mail);
  if (await isKnownEmail(deps.db, projectId, inboundId)) return 'repeated';
  let authentication: ReturnType<typeof authenticateStoredMail> | null = null;
  const received: InboundContext = {
    ...read,
    arrived: { ...envelope, raw },
    authenticate: () => (authentication ??= authenticateStoredMail({ raw, author: mail.from }, deps.lookUp)),
    projectId,
  };
  const results: ReceiveResult[] = [];
  for (const recipient of readSourceRecipients(mail.to, projectId, deps))
    results.push(await receiveFor(deps, received, recipient));
  const result = resultOf(results);
  if (result === 'received')
    await insertKnownEmail(deps.db, { projectId, inboundId, at: deps.db.clock.now() });
  return result;
}

/** The strongest result counts. */
function resultOf(results: ReceiveResult[]): SourceResult {
  if (results.includes('done')) return 'received';
  if (results.includes('full')) return 'full';
  if (results.includes('unproven')) return 'unproven';
  return results.includes('nothing') ? 'no_action' : 'unmatched';
}
