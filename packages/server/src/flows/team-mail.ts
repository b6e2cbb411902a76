import type { NewId } from '../base/ids.ts';
import { letterToken, type TokenKeys } from '../base/letter-token.ts';
import { getSettings } from '../features/projects/index.ts';
import { OUTBOX_DOMAIN, type Outlet } from '../features/sending/index.ts';
import { renderTeamLetter } from '../features/writing/index.ts';
import type { Tx } from '../io/db/index.ts';
import { composeMail, type Relay } from '../io/mail/index.ts';
import type { TeamTransport } from './tell-team.ts';

export type TeamMailOptions = {
  db: Tx & { clock: { now(): number } };
  relay: Pick<Relay, 'hand'>;
  outlet: Outlet;
  /** As whom; null: nobody is written to by way of a relay. */
  mailFrom: string | null;
  tokenKeys: TokenKeys;
  newId: NewId;
};

/**
 * Letters to the team of a project: outside its gates, from the installation and not from its domain. Whoever of several
 * could not be reached is not told by writing to the others again.
 */
export function createTeamTransport(options: TeamMailOptions): TeamTransport {
  const { db, relay, outlet, tokenKeys, newId } = options;
  return {
    async hand(projectId, letter) {
      const from = outlet.kind === 'outbox' ? `beckon@${OUTBOX_DOMAIN}` : options.mailFrom;
      const { settings } = await getSettings(db, projectId);
      const known = settings.teamAddresses;
      const to = outlet.kind === 'outbox' && known.length === 0 ? [`team@${OUTBOX_DOMAIN}`] : known;
      if (from === null || to.length === 0) return;
      const troubles: string[] = [];
      for (const address of to) {
        const messageId = newId();
        const token = letterToken({ projectId, messageId }, 'team', tokenKeys);
        const mime = await composeMail(
          {
            messageId: `${messageId}@${from.slice(from.lastIndexOf('@') + 1)}`,
            date: new Date(db.clock.now()),
            from: { name: 'Beckon', address: from },
            to: { name: '', address },
            replyTo: null,
            subject: letter.subject,
            html: renderTeamLetter(letter),
            text: letter.text,
            headers: [{ name: 'Auto-Submitted', value: 'auto-generated' }],
          },
          null,
        );
        const sender = outlet.kind === 'outbox' ? `t+${token}@${OUTBOX_DOMAIN}` : from;
        const over = await relay.hand({ from: sender, to: address, envid: messageId }, mime);
        if (over.result === 'refused' || over.result === 'not_sent')
          troubles.push('reply' in over ? over.reply : over.reason);
      }
      if (troubles.length === to.length) throw new Error(`nobody of the team was reached: ${troubles[0]}`);
    },
  };
}
