import type { TokenKeys } from '../../src/platform/crypto/email-token.ts';
import { createEncrypter } from '../../src/platform/crypto/encrypt.ts';
import { createLookUp, createResolver } from '../../src/platform/dns/resolver.ts';
import { createOutbound } from '../../src/platform/outbound/outbound.ts';
import { createRenderer } from '../../src/modules/rendering/pool/renderer.ts';
import { type SendServices, NO_PROVIDERS } from '../../src/modules/delivery/send-services.ts';
import { RELAY_ADAPTERS } from '../../src/platform/relays/adapters.ts';
import { relayKinds } from '../../src/platform/relays/kinds.ts';
import { createSuppressionHasher } from '../../src/modules/sending/suppressions/hasher.ts';

/** Its threads start on demand, and keep no test alive. */
export const testRenderer = createRenderer();

/** Returns the send services with the test inbox and no sending domain, as a new installation has. */
export function testSendServices(changed: Partial<SendServices> = {}): SendServices {
  return {
    outlet: { kind: 'test_inbox', publicUrl: 'http://localhost:8080', mailDomain: null },
    signers: { of: () => Promise.resolve(null) },
    providers: NO_PROVIDERS,
    renderer: testRenderer,
    ...changed,
  };
}

const NO_DNS = { servers: ['127.0.0.1:9'], timeoutMs: 50, tries: 1 };

/** Returns the part that commands receive. */
export function testMail(changed: Partial<SendServices> = {}) {
  return {
    encrypter: createEncrypter('a secret of this test alone', null, 'test'),
    hasher: testHasher,
    resolver: createResolver(NO_DNS),
    lookUp: createLookUp(NO_DNS),
    openOutbound: () => createOutbound({ allowPrivate: true }),
    mail: { mailDomain: null, spfInclude: null },
    sendServices: testSendServices(changed),
    tokenKeys: TOKEN_KEYS,
    projectsMax: 20,
    openStripe: (): never => {
      throw new Error('this test makes no Stripe requests');
    },
    openScratch: (): Promise<never> => Promise.reject(new Error('nothing is made up in this test')),
    openRelayTransport: (): never => {
      throw new Error('this test has no relay');
    },
    relayKinds: relayKinds(Object.values(RELAY_ADAPTERS)),
    smtpUrl: null as string | null,
    resolveHostOf: () => (host: string) => Promise.resolve(host),
    openRelay: (): Promise<never> => Promise.reject(new Error('nothing is sent in this test')),
    webhooks: { allowPrivate: true, agent: 'Beckon-Webhooks/0.0.0' },
  };
}

export const TOKEN_KEYS: TokenKeys = [Buffer.alloc(32, 9)];

/** The suppression hasher of tests that start no process, with a fixed key. */
export const testHasher = createSuppressionHasher(Buffer.alloc(32, 5));
