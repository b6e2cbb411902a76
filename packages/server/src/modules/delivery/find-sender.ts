import { domainPart } from '../../platform/net/address.ts';
import {
  type AssignedRelays,
  chooseRelay,
  findAssignedRelays,
  hasAssignedRelay,
  type RelayRef,
  type Signer,
  type Signers,
} from '../sending/index.ts';
import type { Tx } from '../../platform/db/statements.ts';
import type { Model } from '../rules/index.ts';
import { type Identity, senderGate, senderOf } from './sender-identity.ts';
import type { GateFacts, Outlet } from './gate/facts.ts';

/** The present sender of a project, and whether it may send. */
export type ProjectSender = ReturnType<typeof senderOf> & {
  identity: Identity;
  /** The domain that signs: that of the address, or one above it. Everything counted per domain is counted under this name. */
  domain: string;
  /** The address that replies are forwarded to; null: they go to `replyTo`, and none reaches Beckon. */
  replyForwardTo: string | null;
  /** Reply-To has a token, for replies that a mailbox or a provider receives. */
  replyPlusAddressing: boolean;
  /** Null if the domain was not added: its emails stay in the test inbox and are not signed. */
  signer: Signer | null;
  gate: GateFacts['domain'];
  /** The outlet of the project's emails. A demo or a sandbox uses the test inbox, whatever outlet the installation has. */
  outlet: Outlet;
  /** The relay that the emails go through. Null: the outlet of the installation. */
  relay: RelayRef | null;
  /** Sends emails of another domain of the project through the relay of that domain. */
  ofDomain(domain: string): Pick<ProjectSender, 'domain' | 'outlet' | 'relay'>;
  /** True for a demo or a sandbox, whose emails never leave the installation. */
  isInside: boolean;
};

/**
 * Returns by name whether these domains may still send. The sender's own domain is not included.
 *
 * An email that was handed to the relay before is sent as the same bytes. It is signed for the domain of that time, whatever the sender is
 * now.
 */
export async function findDomainGates(
  tx: Tx,
  { projectId, sender, domains }: { projectId: number; sender: ProjectSender; domains: (string | null)[] },
  { signers }: { signers: Signers },
): Promise<Map<string, GateFacts['domain']>> {
  const { identity } = sender;
  const gates = new Map<string, GateFacts['domain']>();
  for (const name of new Set(domains)) {
    if (name === null || name === sender.domain) continue;
    const signer = await signers.of(tx, projectId, name);
    const domain = signer?.domain.name === name ? signer.domain : null;
    const { outlet } = sender.ofDomain(name);
    gates.set(name, senderGate({ outlet, identity: { ...identity, fromAddress: `emails@${name}` }, domain }));
  }
  return gates;
}

/** Returns by name whether relays may still send emails of these domains. */
export async function findRelayDomainGates(
  tx: Tx,
  { project: { projectId, settings } }: Pick<Model, 'project'>,
  {
    names,
    sendServices: { outlet, signers },
  }: { names: string[]; sendServices: { outlet: Outlet; signers: Signers } },
): Promise<Map<string, GateFacts['domain']>> {
  const gates = new Map<string, GateFacts['domain']>();
  for (const name of new Set(names)) {
    const signer = await signers.of(tx, projectId, name);
    const domain = signer?.domain.name === name ? signer.domain : null;
    const identity = { ...settings.sender, fromAddress: `emails@${name}` };
    gates.set(name, senderGate({ outlet: { ...outlet, kind: 'relay' }, identity, domain }));
  }
  return gates;
}

export async function findSender(
  tx: Tx,
  { project: { projectId, name, isDemo, livemode, settings } }: Pick<Model, 'project'>,
  { outlet: defaultOutlet, signers }: { outlet: Outlet; signers: Signers },
): Promise<ProjectSender> {
  const isInside = isDemo || !livemode;
  const from = senderOf(settings.sender, name);
  const at = domainPart(from.address);
  const [signer, relays] = await Promise.all([
    signers.of(tx, projectId, at),
    isInside ? null : findAssignedRelays(tx, projectId),
  ]);
  const ofDomain: ProjectSender['ofDomain'] = (domain) => ({
    domain,
    ...routeOf(defaultOutlet, relays, domain),
  });
  const route = ofDomain(signer?.domain.name ?? at);
  return {
    ...from,
    ...route,
    identity: settings.sender,
    replyForwardTo: settings.replyForwardTo,
    replyPlusAddressing: settings.replyPlusAddressing,
    signer,
    ofDomain,
    isInside,
    gate: senderGate({ outlet: route.outlet, identity: settings.sender, domain: signer?.domain ?? null }),
  };
}

/** `relays`: null for a project whose emails stay inside. */
function routeOf(
  outlet: Outlet,
  relays: AssignedRelays | null,
  domain: string,
): Pick<ProjectSender, 'outlet' | 'relay'> {
  if (relays === null) return { outlet: { ...outlet, kind: 'test_inbox' }, relay: null };
  const relay = chooseRelay(relays, domain);
  return { outlet: relay === null ? outlet : { ...outlet, kind: 'relay' }, relay };
}

/** Returns where the emails of a project go. A sandbox follows its project, although its own emails stay inside. */
export async function findOutlet(tx: Tx, projectId: number, outlet: Outlet): Promise<Outlet> {
  if (outlet.kind === 'relay' || !(await hasAssignedRelay(tx, projectId))) return outlet;
  return { ...outlet, kind: 'relay' };
}
