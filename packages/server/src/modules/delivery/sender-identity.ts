import { deliveryAddress, domainPart } from '../../platform/net/address.ts';
import { isLoopbackName } from '../../platform/net/network-address.ts';
import type { GateFacts, Outlet } from './gate/facts.ts';

/** The sender of a project. Unset fields are null. */
export type Identity = {
  fromName: string | null;
  fromAddress: string | null;
  replyTo: string | null;
  postalAddress: string | null;
  footer: string | null;
};

export type SenderFacts = {
  outlet: Outlet;
  identity: Identity;
  /** The domain of the from-address, as found in the DNS. Null if it was not added. */
  domain: {
    name: string;
    state: 'pending' | 'verified' | 'degraded' | 'failed';
    /** Why the domain is paused until a member resumes it; null if it is not paused. */
    pausedReason: string | null;
  } | null;
};

/**
 * Decides whether emails of this sender may be sent. The test inbox always accepts them, because it is meant for looking around before any
 * setup. A verified domain keeps sending when one check finds a problem, until the problem is certain.
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
 * Returns the sender for the envelope and the header, with the domain in its DNS form. With the test inbox a project may send before it has
 * an identity.
 */
export function senderOf(
  { fromName, fromAddress, replyTo }: Identity,
  projectName: string,
): { name: string; address: string; replyTo: string | null } {
  return {
    name: fromName ?? projectName,
    address: deliveryAddress(fromAddress ?? `emails@${TEST_INBOX_DOMAIN}`),
    replyTo,
  };
}
