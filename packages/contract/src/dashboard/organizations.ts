import Type from 'typebox';
import type { Role } from './access.ts';
import { item, list } from './envelope.ts';

export type OrganizationListed = {
  id: string;
  name: string;
  /** The caller's role in the organization. */
  role: Role;
  requires_two_factor: boolean;
  /** Sandboxes are not counted. */
  projects: number;
  members: number;
};

export const ORGANIZATIONS_API = {
  /** The caller's organizations, oldest first. */
  'GET /organizations': { response: list<OrganizationListed>() },
  /** Only for owners of the installation's first organization. The caller becomes the owner of the new one. */
  'POST /organizations': {
    body: Type.Object({ name: Type.String({ maxLength: 1_000 }) }),
    response: item<OrganizationListed>(),
  },
};
