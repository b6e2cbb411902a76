import type { Clock } from '../base/clock.ts';
import type { Sealer } from '../base/seal.ts';
import { createSigners, type MailSettings } from '../features/domains/index.ts';
import { createProviders, type Mailroom, NO_PROVIDERS } from '../flows/send-drafts/index.ts';
import { createResolver, type Resolver } from '../io/dns/index.ts';
import type { Config } from './config.ts';

type MailConfig = Pick<Config, 'smtpUrl' | 'publicUrl' | 'mailDomain' | 'spfInclude' | 'dnsServers'>;

/** As whom and by which way letters leave, as the environment says it; the same for the server and for its commands. */
export function openMailroom(
  config: MailConfig,
  sealer: Sealer,
  clock: Clock,
): { resolver: Resolver; mail: MailSettings; mailroom: Mailroom } {
  const { smtpUrl, publicUrl, mailDomain, spfInclude, dnsServers } = config;
  const resolver = createResolver(dnsServers ? { servers: dnsServers } : {});
  const mail = { mailDomain, spfInclude };
  return {
    resolver,
    mail,
    mailroom: {
      outlet: { kind: smtpUrl === null ? 'outbox' : 'relay', publicUrl, mailDomain },
      signers: createSigners(sealer, mail),
      providers: smtpUrl === null ? NO_PROVIDERS : createProviders(resolver, () => clock.now()),
    },
  };
}
