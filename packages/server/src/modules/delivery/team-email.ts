import type { NewId } from '../../platform/ids.ts';
import { emailToken, type TokenKeys } from '../../platform/crypto/email-token.ts';
import type { Log } from '../../platform/log.ts';
import { getSettings, type AccountEmails, listDigestAddresses } from '../workspace/index.ts';
import type { Outlet } from './gate/facts.ts';
import { renderTeamEmail } from '../rendering/index.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { composeMail } from '../../platform/mail/compose.ts';
import { failureText, type SendResult } from '../../platform/mail/send-result.ts';
import type { OpenRelay, Relay } from '../../platform/mail/submit.ts';
import { TEST_INBOX_DOMAIN } from './sender-identity.ts';

export type TeamEmail = { subject: string; text: string };

/** Submits emails to the team, outside the projects' send checks. */
export type TeamTransport = { submit(projectId: number, email: TeamEmail): Promise<void> };

export type TeamMailOptions = {
  db: Tx & { clock: { now(): number } };
  relay: Pick<Relay, 'submit'>;
  outlet: Outlet;
  /** The sender address; null means that nothing is sent by relay. */
  mailFrom: string | null;
  tokenKeys: TokenKeys;
  newId: NewId;
};

/**
 * Sends emails to the team of a project, outside its send checks, from the installation and not from the project's domain. If some
 * addresses fail, the email is not sent to the others again.
 */
export function createTeamTransport(options: TeamMailOptions): TeamTransport {
  const { db, outlet } = options;
  return {
    async submit(projectId, email) {
      const from = senderOf(options);
      const { settings } = await getSettings(db, projectId);
      const addresses = uniqueAddresses([
        ...settings.teamAddresses,
        ...(await listDigestAddresses(db, projectId)),
      ]);
      const to =
        outlet.kind === 'test_inbox' && addresses.length === 0 ? [`team@${TEST_INBOX_DOMAIN}`] : addresses;
      if (from === null || to.length === 0) return;
      const failures: string[] = [];
      for (const address of to) {
        const result = await submitTo(options, { projectId, from, to: address, email });
        if (result.result === 'failed' || result.result === 'deferred') failures.push(failureText(result));
      }
      if (failures.length === to.length) throw new Error(`no member was notified: ${failures[0]}`);
    },
  };
}

export type AccountEmailsOptions = Omit<TeamMailOptions, 'relay'> & {
  openRelay: OpenRelay;
  log: Log;
};

export function createAccountEmails(options: AccountEmailsOptions): AccountEmails {
  const from = senderOf(options);
  return {
    isAvailable: from !== null,
    async send(email) {
      if (from === null) return false;
      try {
        const result = await submitTo({ ...options, relay: await options.openRelay() }, { from, ...email });
        return result.result === 'sent';
      } catch (error) {
        options.log.warn({ err: error }, 'team_email.not_sent');
        return false;
      }
    },
  };
}

function senderOf({ outlet, mailFrom }: Pick<TeamMailOptions, 'outlet' | 'mailFrom'>): string | null {
  return outlet.kind === 'test_inbox' ? `beckon@${TEST_INBOX_DOMAIN}` : mailFrom;
}

function uniqueAddresses(addresses: string[]): string[] {
  return [...new Map(addresses.map((address) => [address.toLowerCase(), address])).values()];
}

type Words = { subject: string; text: string };
type TeamSubmission = { projectId: number; from: string; to: string; email: Words };

async function submitTo(
  options: TeamMailOptions,
  { projectId, from, to, email }: TeamSubmission,
): Promise<SendResult> {
  const { db, relay, outlet, tokenKeys, newId } = options;
  const emailId = newId();
  const mime = await composeMail(
    {
      messageId: `${emailId}@${from.slice(from.lastIndexOf('@') + 1)}`,
      date: new Date(db.clock.now()),
      from: { name: 'Beckon', address: from },
      to: { name: '', address: to },
      replyTo: null,
      subject: email.subject,
      html: renderTeamEmail(email),
      text: email.text,
      headers: [{ name: 'Auto-Submitted', value: 'auto-generated' }],
    },
    null,
  );
  const token = emailToken({ projectId, emailId }, 'team', tokenKeys);
  const sender = outlet.kind === 'test_inbox' ? `t+${token}@${TEST_INBOX_DOMAIN}` : from;
  return relay.submit({ from: sender, to, envid: emailId }, mime);
}
