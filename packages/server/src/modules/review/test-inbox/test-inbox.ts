import { randomUUID } from 'node:crypto';
import type { TransportEmail, Transport } from '../../delivery/index.ts';
import { findDraft } from '../../drafts/index.ts';
import { listSettings } from '../../workspace/index.ts';
import { readEmailToken, type TokenKeys, type TokenUse } from '../../../platform/crypto/email-token.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { Fault } from '../../../platform/fault.ts';
import { withProjectClock } from '../../../platform/locks/project-lock.ts';
import { findEmailById } from '../../delivery/index.ts';
import { keepMail } from './keep-mail.ts';
import type { NewMail } from './mail.ts';

type ReceivedMail = { from: string; to: string[]; raw: Uint8Array };

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
    const email = await findEmail(tx, { from, tokenKeys });
    return keepMail(tx, { ...email, mailFrom: from, rcptTo, raw, at: db.clock.now() });
  });
}

type Email = Pick<NewMail, 'projectId' | 'id' | 'draftId' | 'userId'>;

const SENDER = /^([btx])\+([a-z2-7.]{1,64})@/i;
const USES: Record<string, TokenUse> = { b: 'bounce', t: 'team', x: 'test' };

async function findEmail(
  tx: Tx,
  { from, tokenKeys }: { from: string; tokenKeys: TokenKeys },
): Promise<Email> {
  const [, kind = '', token = ''] = SENDER.exec(from) ?? [];
  const use = USES[kind.toLowerCase()] ?? 'bounce';
  const name = readEmailToken(token, use, tokenKeys);
  if (name === null) throw refused('The test inbox accepts only emails of this installation', 'from');
  const { projectId, emailId } = name;
  if (use === 'team') return { projectId, id: emailId, draftId: null, userId: null };
  if (use === 'test') return findTested(tx, { projectId, draftId: emailId });
  const message = await findEmailById(tx, { projectId, emailId });
  if (!message) throw refused('There is no such email. Its recipient was erased', 'from');
  return { projectId, id: emailId, draftId: message.draftId, userId: message.userId };
}

/** Finds the draft of a test copy to a member. A draft may have many copies, so each gets an id of its own. */
async function findTested(
  tx: Tx,
  { projectId, draftId }: { projectId: number; draftId: string },
): Promise<Email> {
  const found = await findDraft(tx, projectId, draftId);
  if (!found) throw refused('There is no such draft: its recipient was erased', 'from');
  return { projectId, id: randomUUID(), draftId, userId: found.draft.userId };
}

function refused(message: string, field: string): Fault {
  return new Fault('validation_failed', { details: [{ message, field }] });
}

/** Keeps emails of demos and sandboxes in the test inbox, even if a relay is set, because their users are invented. */
export function keepInside(transport: Transport, db: Database): Transport {
  // This never changes for a project.
  const cache = new Map<number, boolean>();

  async function staysInside(projectId: number): Promise<boolean> {
    const cached = cache.get(projectId);
    if (cached !== undefined) return cached;
    const project = (await listSettings(db, [projectId])).get(projectId);
    const stays = project !== undefined && (project.isDemo || !project.livemode);
    cache.set(projectId, stays);
    return stays;
  }

  const testInbox = testInboxTransport(db);
  return {
    ...transport,
    async submit(email) {
      return (await staysInside(email.projectId)) ? testInbox.submit(email) : transport.submit(email);
    },
  };
}

/** A transport that only writes to the test inbox. No email can leave the installation through it. */
export function testInboxTransport(db: Database): Transport {
  return {
    async submit(email) {
      await keep((await withProjectClock({ db }, email.projectId)).db, email);
      return { result: 'sent', reply: '250 2.0.0 Kept in the test inbox', relayId: null };
    },
  };
}

async function keep(db: Database, email: TransportEmail): Promise<void> {
  const { projectId, emailId: id, draftId, userId, mailFrom, rcptTo, mime } = email;
  await keepMail(db, { projectId, id, draftId, userId, mailFrom, rcptTo, at: db.clock.now(), raw: mime });
}
