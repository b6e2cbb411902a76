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
  domain: string;
  /** Where answers are handed on to; null: they go to `replyTo`, and none is heard here. */
  replyForwardTo: string | null;
  /** Null where the domain was not added: such letters stay in the outbox, and are not signed. */
  signer: Signer | null;
  gate: GateFacts['domain'];
  /** Where its letters go. Those of a demo or a sandbox stay in the outbox, whatever the installation does with others. */
  outlet: Outlet;
};

export async function findSender(
  tx: Tx,
  { project: { projectId, name, isDemo, livemode, settings } }: Pick<Model, 'project'>,
  { outlet: usual, signers }: { outlet: Outlet; signers: Signers },
): Promise<Sender> {
  const outlet: Outlet = isDemo || !livemode ? { ...usual, kind: 'outbox' } : usual;
  const from = senderOf(settings.sender, name);
  const domain = domainPart(from.address);
  const signer = await signers.of(tx, projectId, domain);
  return {
    ...from,
    identity: settings.sender,
    domain,
    replyForwardTo: settings.replyForwardTo,
    signer,
    outlet,
    gate: senderGate({ outlet, identity: settings.sender, domain: signer?.domain ?? null }),
  };
}
