/** From the least to the most; who has one has all that stand before it. */
export const ROLES = ['viewer', 'reviewer', 'editor', 'admin', 'owner'] as const;
export type Role = (typeof ROLES)[number];

export function allows(has: Role, needs: Role): boolean {
  return ROLES.indexOf(has) >= ROLES.indexOf(needs);
}
