import { keepMail } from '../../features/test-inbox/index.ts';
import { listSettings } from '../../features/projects/index.ts';
import type { Database } from '../../io/db/index.ts';
import { inTimeOf } from '../project-time.ts';
import type { Handed, OutgoingLetter, Transport } from './transport.ts';

/** Letters of demos and sandboxes end in the outbox, where a relay is set too: nobody who is made up is ever written to. */
export function keepInside(transport: Transport, db: Database): Transport {
  // Whether a project is one of them never changes.
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

/** For who sends nothing but what stays inside: there is no way out of it. */
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
