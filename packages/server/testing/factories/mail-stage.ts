import { afterAll } from 'vitest';
import { createEncrypter } from '../../src/platform/crypto/encrypt.ts';
import { silentLog } from '../../src/platform/log.ts';
import { createSigners } from '../../src/modules/sending/domains/signers.ts';
import { addDomain } from '../../src/modules/sending/domains/change-domain.ts';
import { checkDomain } from '../../src/modules/sending/domains/check-domain.ts';
import { requireDomain } from '../../src/modules/sending/domains/domain-view.ts';
import { relayTransport } from '../../src/modules/delivery/relay-transport.ts';
import { openRelay } from '../../src/platform/mail/relay.ts';
import { classifyReply } from '../../src/modules/outcomes/bounces/classify-reply.ts';
import { type DnsServer, startDnsServer } from '../servers/dns-server.ts';
import { testResolver } from '../servers/test-resolver.ts';
import { type Sink, startSink, type SunkEmail } from '../servers/smtp-sink.ts';
import type { EngineOptions } from './engine.ts';
import { newScenario, openStage, type Stage, type Scenario } from '../scenario.ts';

/** A stage that really sends its emails: signed for a domain in a DNS server of ours, over SMTP, to a server that keeps them. */
export type MailStage = Stage & { dns: DnsServer; sink: Sink; deps: DomainDeps };
type DomainDeps = Parameters<typeof addDomain>[0] & Parameters<typeof checkDomain>[0];

/** A project with a sending domain of its own, whose DNS records are not published yet. */
export type MailScenario = Scenario & {
  domain: string;
  publish(): Promise<void>;
  /** Checks the DNS now and returns the state of the domain. */
  check(): Promise<string>;
  /** Returns the emails that arrived from this project so far. */
  arrived(): SunkEmail[];
};

const MAIL = { mailDomain: 'in.beckon.test', spfInclude: null };

export async function openMailStage({
  openRelays,
}: Pick<EngineOptions, 'openRelays'> = {}): Promise<MailStage> {
  const [dns, sink] = [await startDnsServer(), await startSink()];
  const encrypter = createEncrypter('a secret of this test alone', null, 'dkim keys');
  const outlet = {
    kind: 'relay',
    publicUrl: 'https://beckon.acme.test',
    mailDomain: MAIL.mailDomain,
  } as const;
  const stage = await openStage({
    sendServices: { outlet, signers: createSigners(encrypter, MAIL) },
    ...(openRelays ? { openRelays } : {}),
  });
  const { db, clock } = stage.server;
  const relay = openRelay({ url: `smtp://127.0.0.1:${sink.port}`, log: silentLog, classify: classifyReply });
  const transport = relayTransport({ relay, now: () => clock.now() });
  stage.engine.transport.setResult((email) => transport.submit(email));
  afterAll(async () => {
    await relay.close();
    await Promise.all([sink.close(), dns.stop()]);
  });
  const resolver = testResolver(dns);
  return { ...stage, dns, sink, deps: { db, encrypter, resolver, mail: MAIL } };
}

export async function newMailScenario(stage: MailStage): Promise<MailScenario> {
  const scenario = await newScenario(stage);
  const { projectId } = scenario;
  const domain = `mail${projectId}.acme.test`;
  await scenario.set({
    autopilot: '1h',
    quiet_hours: 'off',
    frequency_cap: 'off',
    throttle: 'off',
    from_name: 'Acme',
    from_address: `hello@${domain}`,
    reply_to: `help@${domain}`,
    postal_address: '1 Main Street, Springfield',
  });
  const key = { projectId, name: domain };
  const added = await addDomain(stage.deps, { ...key, warm: true });
  return {
    ...scenario,
    domain,
    async publish() {
      for (const { type, name, value } of added.records) stage.dns.set(type, name, [value]);
    },
    async check() {
      const checked = await checkDomain(stage.deps, await requireDomain(stage.deps.db, key));
      return checked?.view.domain.state ?? 'gone';
    },
    arrived: () => stage.sink.emails.filter(({ raw }) => raw.includes(`\r\nFrom: `) && raw.includes(domain)),
  };
}

/** Creates such a project with everything that sending requires. */
export async function newVerifiedScenario(stage: MailStage): Promise<MailScenario> {
  const scenario = await newMailScenario(stage);
  await scenario.publish();
  const state = await scenario.check();
  if (state !== 'verified') throw new Error(`the domain is ${state}`);
  return scenario;
}
