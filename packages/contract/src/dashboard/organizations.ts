import type { Role } from './access.ts';
import type { ListResponse, ItemResponse } from './envelope.ts';

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

export type OrganizationsApi = {
  /** The caller's organizations, oldest first. */
  'GET /organizations': { response: ListResponse<OrganizationListed> };
  /** Only for owners of the installation's first organization. The caller becomes the owner of the new one. */
  'POST /organizations': { body: { name: string }; response: ItemResponse<OrganizationListed> };
};
