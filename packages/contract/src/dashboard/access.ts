/** The roles in ascending order; each includes the rights of all roles before it. */
export const ROLES = ['viewer', 'reviewer', 'editor', 'admin', 'owner'] as const;
export type Role = (typeof ROLES)[number];

export function allows(has: Role, needs: Role): boolean {
  return ROLES.indexOf(has) >= ROLES.indexOf(needs);
}
