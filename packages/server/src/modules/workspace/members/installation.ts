import type { KitDeps } from '../dashboard-api/route.ts';
import { isLocalShell } from './local-shell.ts';
import { listOrganizations } from './reads.ts';
import type { SignedInMember } from './team.ts';
import { Fault } from '../../../platform/fault.ts';

export type Release = { version: string; node: string };

/** The settings of the installation that members may see. */
export type Installation = {
  publicUrl: string;
  /** The relay without its password. Null: emails go to the test inbox. */
  relay: string | null;
  mailFrom: string | null;
  /** AI drafting is available to projects. */
  hasModel: boolean;
};

type Deps = KitDeps;

/**
 * Requires a caller who may act for the whole installation: the local shell, or an owner of the first organization. Other organizations are
 * tenants. They must not create organizations, which would evade PROJECTS_PER_ORGANIZATION, nor lift a suspension. `what` is the action, as
 * the message names it.
 */
export async function requireOperator(
  { db, access }: Pick<Deps, 'db' | 'access'>,
  member: SignedInMember,
  what: string,
): Promise<void> {
  if (isLocalShell(member)) return;
  const [first] = await listOrganizations(db);
  const organization = (await access.organizationsOf(member.id)).find(({ id }) => id === first?.id);
  if (organization?.role === 'owner') return;
  const message = `Only an owner of this installation's first organization can ${what}`;
  throw new Fault('role_required', { details: [{ message }] });
}
