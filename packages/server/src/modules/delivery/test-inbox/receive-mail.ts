import { randomUUID } from 'node:crypto';
import { Fault } from '../../../platform/fault.ts';
import { readLetterToken, type TokenUse, type TokenKeys } from '../../../platform/crypto/email-token.ts';
import { findDraft } from '../../drafts/index.ts';
import { keepMail, type NewMail, findMessageById } from '../../sending/index.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { Tx } from '../../../platform/db/statements.ts';

export type ReceivedMail = { from: string; to: string[]; raw: Uint8Array };

/**
 * Receives every email while no relay is set, and stores it before it is acknowledged. A signed token in its bounce address identifies the
 * email. Anything else that a process on this host submits is refused. So is an email to a user who was erased while it was being sent.
 */
export function receiveMail(
  { db, tokenKeys }: { db: Pick<Database, 'transaction' | 'clock'>; tokenKeys: TokenKeys },
  { from, to, raw }: ReceivedMail,
): Promise<{ copy: number }> {
  return db.transaction(async (tx) => {
    const [rcptTo, ...others] = to;
    if (rcptTo === undefined || others.length > 0) throw refused('An email has exactly one recipient', 'to');
    const letter = await findLetter(tx, { from, tokenKeys });
    return keepMail(tx, { ...letter, mailFrom: from, rcptTo, raw, at: db.clock.now() });
  });
}

type Letter = Pick<NewMail, 'projectId' | 'id' | 'draftId' | 'userId'>;

const SENDER = /^([btx])\+([a-z2-7.]{1,64})@/i;
const USES: Record<string, TokenUse> = { b: 'bounce', t: 'team', x: 'test' };

async function findLetter(
  tx: Tx,
  { from, tokenKeys }: { from: string; tokenKeys: TokenKeys },
): Promise<Letter> {
  const [, kind = '', token = ''] = SENDER.exec(from) ?? [];
  const use = USES[kind.toLowerCase()] ?? 'bounce';
  const name = readLetterToken(token, use, tokenKeys);
  if (name === null) throw refused('The test inbox accepts only emails of this installation', 'from');
  const { projectId, messageId } = name;
  if (use === 'team') return { projectId, id: messageId, draftId: null, userId: null };
  if (use === 'test') return findTested(tx, { projectId, draftId: messageId });
  const message = await findMessageById(tx, { projectId, messageId });
  if (!message) throw refused('There is no such email. Its recipient was erased', 'from');
  return { projectId, id: messageId, draftId: message.draftId, userId: message.userId };
}

/** Finds the draft of a test copy to a member. A draft may have many copies, so each gets an id of its own. */
async function findTested(
  tx: Tx,
  { projectId, draftId }: { projectId: number; draftId: string },
): Promise<Letter> {
  const found = await findDraft(tx, projectId, draftId);
  if (!found) throw refused('There is no such draft: its recipient was erased', 'from');
  return { projectId, id: randomUUID(), draftId, userId: found.draft.userId };
}

function refused(message: string, field: string): Fault {
  return new Fault('validation_failed', { details: [{ message, field }] });
}
