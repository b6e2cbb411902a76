import type { Tx } from '../../../platform/db/statements.ts';
import { spfOfRelay } from '../../../platform/relays/smtp-provider.ts';
import { findAssignedSettings } from '../relays/reads.ts';
import { chooseRelay } from '../relays/relay.ts';
import type { MailSettings, SendingDomain } from './domain.ts';

/**
 * Returns the mail settings for each domain of a project. The relay that sends the emails of a domain decides which include its SPF record
 * needs. Without a relay of the domain, the project or the installation, that is the relay of `SMTP_URL`.
 */
export async function findDomainMail(
  tx: Tx,
  projectId: number,
  mail: MailSettings,
): Promise<(domain: string) => MailSettings> {
  const relays = await findAssignedSettings(tx, projectId);
  return (domain) => {
    const relay = chooseRelay(relays, domain);
    if (relay === null || relay.kind === 'smtp_url') return mail;
    const need = spfOfRelay(relay.kind, relay.settings);
    return { ...mail, spfInclude: need?.include ?? null, spfDomain: need?.domain ?? null };
  };
}

export async function mailOfDomain(
  tx: Tx,
  { projectId, name }: Pick<SendingDomain, 'projectId' | 'name'>,
  mail: MailSettings,
): Promise<MailSettings> {
  return (await findDomainMail(tx, projectId, mail))(name);
}
