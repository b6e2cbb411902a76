import { keepMail } from '../../features/outbox/index.ts';
import { listSettings } from '../../features/projects/index.ts';
import type { Database } from '../../io/db/index.ts';
import type { OutgoingLetter, Transport } from './transport.ts';

/** Letters of demos end in the outbox, where a relay is set too: nobody who is made up is ever written to. */
export function keepDemos(transport: Transport, db: Database): Transport {
  // Whether a project is a demo never changes.
  const known = new Map<number, boolean>();

  async function isDemo(projectId: number): Promise<boolean> {
    const cached = known.get(projectId);
    if (cached !== undefined) return cached;
    const project = (await listSettings(db, [projectId])).get(projectId);
    known.set(projectId, project?.isDemo ?? false);
    return project?.isDemo ?? false;
  }

  return {
    ...transport,
    async hand(letter) {
      if (!(await isDemo(letter.projectId))) return transport.hand(letter);
      await keep(db, letter);
      return { result: 'sent', reply: '250 2.0.0 Kept in the outbox', relayId: null };
    },
  };
}

async function keep(db: Database, letter: OutgoingLetter): Promise<void> {
  const { projectId, messageId: id, draftId, userId, mailFrom, rcptTo, mime } = letter;
  await keepMail(db, { projectId, id, draftId, userId, mailFrom, rcptTo, at: db.clock.now(), raw: mime });
}
