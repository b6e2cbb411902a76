import { keepMail } from '../sending/index.ts';
import { listSettings } from '../workspace/index.ts';
import type { Database } from '../../platform/db/database.ts';
import { inTimeOf } from '../../platform/locks/test-clock-offset.ts';
import type { Handed, OutgoingLetter, Transport } from './transport.ts';

/** Keeps emails of demos and sandboxes in the test inbox, even if a relay is set, because their users are invented. */
export function keepInside(transport: Transport, db: Database): Transport {
  // This never changes for a project.
  const known = new Map<number, boolean>();

  async function staysInside(projectId: number): Promise<boolean> {
    const cached = known.get(projectId);
    if (cached !== undefined) return cached;
    const project = (await listSettings(db, [projectId])).get(projectId);
    const stays = project !== undefined && (project.isDemo || !project.livemode);
    known.set(projectId, stays);
    return stays;
  }

  const outbox = testInboxTransport(db);
  return {
    ...transport,
    async hand(letter) {
      return (await staysInside(letter.projectId)) ? outbox.hand(letter) : transport.hand(letter);
    },
  };
}

/** A transport that only writes to the test inbox. No email can leave the installation through it. */
export function testInboxTransport(db: Database): Transport {
  return {
    async hand(letter): Promise<Handed> {
      await keep((await inTimeOf({ db }, letter.projectId)).db, letter);
      return { result: 'sent', reply: '250 2.0.0 Kept in the test inbox', relayId: null };
    },
  };
}

async function keep(db: Database, letter: OutgoingLetter): Promise<void> {
  const { projectId, messageId: id, draftId, userId, mailFrom, rcptTo, mime } = letter;
  await keepMail(db, { projectId, id, draftId, userId, mailFrom, rcptTo, at: db.clock.now(), raw: mime });
}
