import type { Clock } from '../platform/time/clock.ts';
import type { Encrypter } from '../platform/crypto/encrypt.ts';
import { createSigners, type MailSettings } from '../modules/sending/index.ts';
import { createRenderer } from '../modules/rendering/index.ts';
import { createProviders, type SendServices } from '../modules/delivery/index.ts';
import { createLookUp, createResolver, type LookUp, type Resolver } from '../platform/dns/resolver.ts';
import { createOutbound, type Outbound, type OutboundBounds } from '../platform/outbound/outbound.ts';
import { RELAY_ADAPTERS } from '../platform/relays/adapters.ts';
import { type RelayKinds, relayKinds } from '../platform/relays/kinds.ts';
import { smtpAddressOfUrl, spfOfSmtp } from '../platform/relays/smtp-provider.ts';
import type { Config } from './config.ts';

type MailConfig = Pick<
  Config,
  'smtpUrl' | 'publicUrl' | 'mailDomain' | 'spfInclude' | 'dnsServers' | 'webhookAllowPrivate'
>;

type OpenedServices = {
  resolver: Resolver;
  lookUp: LookUp;
  mail: MailSettings;
  sendServices: SendServices;
  relayKinds: RelayKinds;
  openOutbound: (bounds?: OutboundBounds) => Outbound;
};

/** Opens the mail settings of the environment: sender, outlet and DNS. The server and its commands share them. */
export function openSendServices(config: MailConfig, encrypter: Encrypter, clock: Clock): OpenedServices {
  const { smtpUrl, publicUrl, mailDomain, spfInclude, dnsServers } = config;
  const dns = dnsServers ? { servers: dnsServers } : {};
  const resolver = createResolver(dns);
  const spf = smtpUrl === null ? null : spfOfSmtp(smtpAddressOfUrl(smtpUrl));
  const mail: MailSettings =
    spfInclude === null && spf !== null
      ? { mailDomain, spfInclude: spf.include, spfDomain: spf.domain }
      : { mailDomain, spfInclude };
  return {
    resolver,
    lookUp: createLookUp(dns),
    openOutbound: (bounds = {}) =>
      createOutbound({ allowPrivate: config.webhookAllowPrivate, resolver, ...bounds }),
    mail,
    relayKinds: relayKinds(Object.values(RELAY_ADAPTERS), smtpUrl),
    sendServices: {
      outlet: { kind: smtpUrl === null ? 'test_inbox' : 'relay', publicUrl, mailDomain },
      signers: createSigners(encrypter, mail),
      providers: createProviders(resolver, () => clock.now()),
      renderer: createRenderer(),
    },
  };
}

/** Returns the User-Agent of webhook deliveries. */
export function webhookAgent(version: string): string {
  return `Beckon-Webhooks/${version}`;
}
