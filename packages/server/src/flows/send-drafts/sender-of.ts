import { domainPart } from '../../base/address.ts';
import type { Signer, Signers } from '../../features/domains/index.ts';
import {
  type GateFacts,
  type Identity,
  type Outlet,
  senderGate,
  senderOf,
} from '../../features/sending/index.ts';
import type { Tx } from '../../io/db/index.ts';
import type { Model } from '../models.ts';

/** As whom a project writes now, and whether it may. */
export type Sender = ReturnType<typeof senderOf> & {
  identity: Identity;
  /** The one that signs, which the address is at or below. All that is counted of a domain is counted by this name. */
  domain: string;
  /** Where answers are handed on to; null: they go to `replyTo`, and none is heard here. */
  replyForwardTo: string | null;
  /** Null where the domain was not added: such letters stay in the outbox, and are not signed. */
  signer: Signer | null;
  gate: GateFacts['domain'];
  /** Where its letters go. Those of a demo or a sandbox stay in the outbox, whatever the installation does with others. */
  outlet: Outlet;
};

/**
 * What was handed over before leaves as the same bytes, whoever the project writes as by now: whether each of these domains still
 * may send what is signed for it. By their names; that of the sender itself is not among them.
 */
export async function gatesElsewhere(
  tx: Tx,
  { projectId, sender, domains }: { projectId: number; sender: Sender; domains: (string | null)[] },
  { signers }: { signers: Signers },
): Promise<Map<string, GateFacts['domain']>> {
  const { outlet, identity } = sender;
  const gates = new Map<string, GateFacts['domain']>();
  for (const name of new Set(domains)) {
    if (name === null || name === sender.domain) continue;
    const signer = await signers.of(tx, projectId, name);
    const domain = signer?.domain.name === name ? signer.domain : null;
    gates.set(
      name,
      senderGate({ outlet, identity: { ...identity, fromAddress: `letters@${name}` }, domain }),
    );
  }
  return gates;
}

export async function findSender(
  tx: Tx,
  { project: { projectId, name, isDemo, livemode, settings } }: Pick<Model, 'project'>,
  { outlet: usual, signers }: { outlet: Outlet; signers: Signers },
): Promise<Sender> {
  const outlet: Outlet = isDemo || !livemode ? { ...usual, kind: 'test_inbox' } : usual;
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
