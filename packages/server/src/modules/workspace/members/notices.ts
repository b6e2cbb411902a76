import type { FastifyRequest } from 'fastify';
import { type AccountChange, accountChangeEmail } from './account-change.ts';
import type { AccountEmails } from './account-emails.ts';
import { findProjectOfMember } from './reads.ts';
import { callerOf } from './caller.ts';
import type { KitDeps } from '../dashboard-api/kit-deps.ts';
import type { Installation } from '../projects/installation.ts';

type Deps = KitDeps & { installation: Installation; accountEmails: AccountEmails };

export type Notice = { member: { id: string; email: string }; change: AccountChange };

/**
 * Emails the member about a change to how their account is signed in to. The response does not wait for it, because a relay that hangs must
 * not delay the change. A notice that could not be sent is a warning in the log.
 */
export function notifyMember(deps: Deps, request: FastifyRequest, notice: Notice): void {
  send(deps, request, notice).catch((error: unknown) =>
    deps.log.warn({ err: error, change: notice.change.kind }, 'account_change.not_emailed'),
  );
}

async function send(
  deps: Deps,
  request: FastifyRequest,
  { member: { id, email }, change }: Notice,
): Promise<void> {
  const { db, installation, accountEmails } = deps;
  const { address } = callerOf(deps, request);
  const at = new Date(db.clock.now());
  const projectId = await findProjectOfMember(db, id);
  const letter = accountChangeEmail(change, { at, address, email, publicUrl: installation.publicUrl });
  // Account emails are sent by the sender of a project, and a member may have none.
  if (projectId === undefined || !(await accountEmails.send({ projectId, to: email, letter })))
    deps.log.warn({ change: change.kind }, 'account_change.not_emailed');
}
