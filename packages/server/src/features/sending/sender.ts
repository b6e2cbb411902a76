import { deliveryAddress, domainPart } from '../../base/address.ts';
import { isLoopbackName } from '../../base/loopback.ts';
import type { GateFacts } from './gate.ts';

/** As whom a project writes; what was never set is null. */
export type Identity = {
  fromName: string | null;
  fromAddress: string | null;
  replyTo: string | null;
  postalAddress: string | null;
  footer: string | null;
};

/** Where letters go: into the outbox of this installation, or to a relay and from there to people. */
export type Outlet = {
  kind: 'test_inbox' | 'relay';
  publicUrl: string;
  /** The public name of the host that takes mail in; null: nothing that comes back by mail is read. */
  mailDomain: string | null;
};

export type SenderFacts = {
  outlet: Outlet;
  identity: Identity;
  /** Of the from-address, as it was found in the DNS; null where nobody added it. */
  domain: {
    name: string;
    state: 'pending' | 'verified' | 'degraded' | 'failed';
    /** Why nothing leaves from it until a person lets it go on. */
    pausedReason: string | null;
  } | null;
};

/**
 * May anything leave as this sender? Into the outbox always: it is there to be looked at before any of this is set up. A
 * domain that was verified and of which one look found something wrong goes on until it is certain.
 */
export function senderGate({ outlet, identity, domain }: SenderFacts): GateFacts['domain'] {
  if (outlet.kind === 'test_inbox') return 'pass';
  const missing = missingOf(identity);
  if (missing.length > 0) {
    return {
      reason: 'no_sender',
      detail: `the project has no ${missing.join(' and no ')}; set it in its settings`,
    };
  }
  const from = domainPart(identity.fromAddress ?? '');
  if (!domain) return { reason: 'domain_not_ready', detail: `${from} was not added as a sending domain` };
  if (domain.state === 'pending') {
    return {
      reason: 'domain_not_ready',
      detail: `the records of ${domain.name} were not found in the DNS yet`,
    };
  }
  if (domain.state === 'failed') {
    return { reason: 'domain_not_ready', detail: `the records of ${domain.name} are no longer in the DNS` };
  }
  if (domain.pausedReason !== null) {
    return { reason: 'domain_not_ready', detail: `${domain.name} is paused: ${domain.pausedReason}` };
  }
  if (isLoopbackName(new URL(outlet.publicUrl).hostname)) {
    return {
      reason: 'public_url',
      detail: `PUBLIC_URL is ${outlet.publicUrl}, which no other machine can open`,
    };
  }
  return 'pass';
}

function missingOf({ fromName, fromAddress, postalAddress }: Identity): string[] {
  const named = { from_name: fromName, from_address: fromAddress, postal_address: postalAddress };
  return Object.entries(named).flatMap(([name, value]) => (value === null ? [name] : []));
}

export const TEST_INBOX_DOMAIN = 'test-inbox.invalid';

/**
 * What the envelope and the header say, with the domain as the DNS has it. In the outbox a project may write before anybody said
 * as whom.
 */
export function senderOf(
  { fromName, fromAddress, replyTo }: Identity,
  projectName: string,
): { name: string; address: string; replyTo: string | null } {
  return {
    name: fromName ?? projectName,
    address: deliveryAddress(fromAddress ?? `letters@${TEST_INBOX_DOMAIN}`),
    replyTo,
  };
}
