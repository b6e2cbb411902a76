import type { Clock } from '../platform/time/clock.ts';
import type { Sealer } from '../platform/crypto/encrypt.ts';
import { createSigners, type MailSettings } from '../modules/sending/index.ts';
import { createRenderer } from '../modules/rendering/index.ts';
import { createProviders, NO_PROVIDERS, type Mailroom } from '../modules/delivery/index.ts';
import { createLookUp, createResolver, type LookUp, type Resolver } from '../platform/dns/resolver.ts';
import { createOutbound, type Outbound } from '../platform/outbound/outbound.ts';
import type { Config } from './config.ts';

type MailConfig = Pick<
  Config,
  'smtpUrl' | 'publicUrl' | 'mailDomain' | 'spfInclude' | 'dnsServers' | 'webhookAllowPrivate'
>;

type Opened = {
  resolver: Resolver;
  lookUp: LookUp;
  mail: MailSettings;
  mailroom: Mailroom;
  openOutbound: () => Outbound;
};

/** Opens the mail settings of the environment: sender, outlet and DNS. The server and its commands share them. */
export function openMailroom(config: MailConfig, sealer: Sealer, clock: Clock): Opened {
  const { smtpUrl, publicUrl, mailDomain, spfInclude, dnsServers } = config;
  const dns = dnsServers ? { servers: dnsServers } : {};
  const resolver = createResolver(dns);
  const mail = { mailDomain, spfInclude };
  return {
    resolver,
    lookUp: createLookUp(dns),
    openOutbound: () => createOutbound({ allowPrivate: config.webhookAllowPrivate, resolver }),
    mail,
    mailroom: {
      outlet: { kind: smtpUrl === null ? 'test_inbox' : 'relay', publicUrl, mailDomain },
      signers: createSigners(sealer, mail),
      providers: smtpUrl === null ? NO_PROVIDERS : createProviders(resolver, () => clock.now()),
      renderer: createRenderer(),
    },
  };
}

/** Returns the User-Agent of webhook deliveries. */
export function webhookAgent(version: string): string {
  return `Beckon-Webhooks/${version}`;
}
