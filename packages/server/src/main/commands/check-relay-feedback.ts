import {
  findSmtpUrlRelay,
  hasFallbackRelay,
  listSpfFaults,
  listUnprovenNames,
} from '../../modules/sending/index.ts';
import type { RelayAdapter } from '../../platform/relays/adapter.ts';
import { providerOfHost } from '../../platform/relays/smtp-provider.ts';
import { type InspectedConfig, type InspectedDatabase, type InstallationCheck, warn } from './checks.ts';

const NAMED_MAX = 5;

type Inspected = Pick<InspectedDatabase, 'db'>;

/** Warns of relays whose bounces may be missed. `MAIL_DOMAIN` alone proves nothing, because providers replace the return path. */
export async function checkRelayFeedback(
  { db }: Inspected,
  { relay }: Pick<InspectedConfig, 'relay'>,
): Promise<InstallationCheck[]> {
  const names = await listUnprovenNames(db, NAMED_MAX + 1);
  const checks = await checkSmtpUrl({ db }, relay?.name ?? null);
  if (names.length === 0) return checks;
  return [
    ...checks,
    warn(
      'relay feedback',
      `No bounce has come back through ${listed(names)}: bounces and complaints may be missed`,
      'Open the relay in the dashboard (Settings → Project → Relays), and send the email that proves its feedback',
    ),
  ];
}

/** Warns of a known provider in `SMTP_URL` whose feedback was not added. */
async function checkSmtpUrl({ db }: Inspected, relay: string | null): Promise<InstallationCheck[]> {
  const provider = relay === null ? null : replacingProvider(relay);
  if (!provider || (await findSmtpUrlRelay(db)) || (await hasFallbackRelay(db))) return [];
  return [
    warn(
      'relay feedback',
      `${provider.title} (SMTP_URL) replaces the return path of emails, so their bounces are missed`,
      'Add its feedback, which does not change how emails are sent: beckon relays add smtp_url --name SMTP_URL --installation',
    ),
  ];
}

/** Returns the provider of an SMTP server whose bounces never arrive by email. */
export function replacingProvider(relay: string): RelayAdapter | null {
  const provider = providerOfHost(relay.replace(/:\d+$/, ''));
  return provider && !provider.forwardsBounces ? provider : null;
}

/** Warns of domains whose SPF record does not allow the relay that sends their emails, by their last check. */
export async function checkSpf({ db }: Inspected): Promise<InstallationCheck[]> {
  const faults = await listSpfFaults(db, NAMED_MAX + 1);
  if (faults.length === 0) return [];
  const texts = faults.map(({ name, include }) => `${name} lacks include:${include}`);
  return [
    warn(
      'spf',
      `SPF does not allow the relay to send: ${listed(texts)}`,
      'Publish the record that the page of the domain shows: beckon domains show <domain>',
    ),
  ];
}

function listed(texts: string[]): string {
  const more = texts.length > NAMED_MAX ? ' and others' : '';
  return `${texts.slice(0, NAMED_MAX).join(', ')}${more}`;
}
