import { domainPart } from '../../platform/net/address.ts';
import type { Signer, Signers } from '../sending/index.ts';
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
  /** Null if the domain was not added: its emails stay in the test inbox and are not signed. */
  signer: Signer | null;
  gate: GateFacts['domain'];
  /** The outlet of the project's emails. A demo or a sandbox uses the test inbox, whatever outlet the installation has. */
  outlet: Outlet;
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
  const { outlet, identity } = sender;
  const gates = new Map<string, GateFacts['domain']>();
  for (const name of new Set(domains)) {
    if (name === null || name === sender.domain) continue;
    const signer = await signers.of(tx, projectId, name);
    const domain = signer?.domain.name === name ? signer.domain : null;
    gates.set(name, senderGate({ outlet, identity: { ...identity, fromAddress: `emails@${name}` }, domain }));
  }
  return gates;
}

export async function findSender(
  tx: Tx,
  { project: { projectId, name, isDemo, livemode, settings } }: Pick<Model, 'project'>,
  { outlet: defaultOutlet, signers }: { outlet: Outlet; signers: Signers },
): Promise<ProjectSender> {
  const outlet: Outlet = isDemo || !livemode ? { ...defaultOutlet, kind: 'test_inbox' } : defaultOutlet;
  const from = senderOf(settings.sender, name);
  const at = domainPart(from.address);
  const signer = await signers.of(tx, projectId, at);
  return {
    ...from,
    identity: settings.sender,
    domain: signer?.domain.name ?? at,
    replyForwardTo: settings.replyForwardTo,
    signer,
    outlet,
    gate: senderGate({ outlet, identity: settings.sender, domain: signer?.domain ?? null }),
  };
}
