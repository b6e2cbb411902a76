import { randomUUID } from 'node:crypto';
import { Fault } from '../../../platform/fault.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { goodForMs, hashOf, type Link, newToken } from './link.ts';
import { deleteLinksTo, findLink, insertLink, useLink } from './store.ts';

type Wanted = Pick<Link, 'kind' | 'madeBy'> &
  Partial<Pick<Link, 'email' | 'organizationId' | 'role' | 'clearsTwoFactor'>>;

/** Creates a link. It invalidates older ones to the same person. */
export async function makeLink(tx: Tx, wanted: Wanted, now: number): Promise<{ token: string; link: Link }> {
  const { token, hash } = newToken();
  const link: Link = {
    email: null,
    organizationId: null,
    role: null,
    clearsTwoFactor: false,
    ...wanted,
    id: randomUUID(),
    createdAt: new Date(now),
    expiresAt: new Date(now + goodForMs(wanted)),
  };
  await makeOthersVoid(tx, link);
  await insertLink(tx, hash, link);
  return { token, link };
}

export async function lookAtLink(tx: Tx, token: string, now: number): Promise<Link> {
  return (await findLink(tx, hashOf(token), new Date(now))) ?? refuseLink();
}

/** Uses a link in the transaction of its action, so that it stays valid if the action fails. */
export async function takeLink(
  tx: Tx,
  { token, kind }: { token: string; kind: Link['kind'] },
  now: number,
): Promise<Link> {
  const link = await useLink(tx, hashOf(token), new Date(now));
  if (link?.kind !== kind) return refuseLink();
  await makeOthersVoid(tx, link);
  return link;
}

/** Anyone may request a new password by email, so such a request keeps links that an operator made. */
async function makeOthersVoid(tx: Tx, { email, kind, organizationId, madeBy }: Link): Promise<void> {
  const sparesOperator = kind === 'reset' && madeBy !== 'operator';
  if (email !== null) await deleteLinksTo(tx, { email, kind, organizationId, sparesOperator });
}

function refuseLink(): never {
  const message = 'This link was already used, has expired, or was replaced by a newer one';
  throw new Fault('not_found', { details: [{ message, field: 'token' }] });
}
