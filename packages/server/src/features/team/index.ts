export type { AccountEmail, AccountEmails } from './account-emails.ts';
export { type AccountChange, accountChangeEmail } from './account-change.ts';
export { countAddress, countWithin } from './attempts.ts';
export { requireConfirmed } from './confirmation.ts';
export { createTeam, type Team } from './create-team.ts';
export { type Link, urlOf } from './link.ts';
export { inviteLetter, resetLetter, testLetter } from './letters.ts';
export { isLocalShell, LOCAL_SHELL, LOCAL_SHELL_ACTOR, localShellAccess } from './local-shell.ts';
export { lookAtLink, makeLink, takeLink } from './links.ts';
export { changeRole, type MemberChange, removeMember } from './members.ts';
export { deletePasskey, deletePasskeys } from './passkey-store.ts';
export {
  findOrganizationOf,
  findProjectOfMember,
  findUserByEmail,
  findUserById,
  isSetUp,
  listDigestAddresses,
  listMembers,
  listMemberships,
  listOrganizations,
  listPasskeys,
  listProjectsOf,
  listSessions,
  type MemberRow,
  type Organization,
  type UserRow,
} from './reads.ts';
export { resealFactors, type ResealFactorsOptions } from './reseal-factors.ts';
export { deleteSessions, updateSessionToken } from './session-store.ts';
export { newSessionToken } from './sessions.ts';
export {
  deleteChallenges,
  deleteInvite,
  deleteTwoFactor,
  insertOrganization,
  listInvites,
  lockOrganization,
  lockOrganizations,
  updateOrganization,
  updatePassword,
  updateUserName,
  updateWantsDigest,
  upsertMember,
  upsertPassword,
  upsertUser,
} from './store.ts';
export {
  type Access,
  type Caller,
  type OrganizationOfMember,
  PASSWORD_MAX_CHARS,
  PASSWORD_MIN_CHARS,
  type Person,
  type WithCookies,
} from './team.ts';
