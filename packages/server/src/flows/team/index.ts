export { changePassword } from './change-password.ts';
export { createOrganization } from './create-organization.ts';
export { checkPassword, readEmail, readName } from './make-person.ts';
export { offerInvite, offerReset, offerSetup, type Offered } from './offer-link.ts';
export {
  inviteByOperator,
  type Meant,
  offerOwnership,
  removeByOperator,
  requireOrganization,
  resetByOperator,
  setRoleByOperator,
} from './operate.ts';
export { setUp } from './set-up.ts';
export { acceptInvite, lookAt, resetPassword } from './use-link.ts';
