export { addressForAudit, testRecipientForAudit } from './audit/audit-text.ts';
export { listEntries } from './audit/reads.ts';
export { adoptEntries } from './audit/store.ts';
export { FRAME_QUERY, sendLetter } from './dashboard-api/email-frame.ts';
export { lastHeard, serveEvents } from './dashboard-api/event-stream.ts';
export { type Feeds, createFeeds } from './dashboard-api/feeds.ts';
export type { KitDeps } from './dashboard-api/kit-deps.ts';
export { readMoment } from './dashboard-api/moment.ts';
export { PAGE, badCursor, isId, readPage, timeAndId, toPage } from './dashboard-api/pages.ts';
export { type Asked, type DashboardRoute, SENT, routesFor } from './dashboard-api/route.ts';
export { sendPieces } from './dashboard-api/stream-file.ts';
export { wholeList } from './dashboard-api/whole-list.ts';
export type { AccountEmails } from './members/account-emails.ts';
export { type Team, createTeam } from './members/create-team.ts';
export { LINK_TOKEN, hashNewPassword, signInWith } from './members/links-routes.ts';
export { takeLink } from './members/links.ts';
export { isLocalShell } from './members/local-shell.ts';
export { type NewPerson, makePerson, readEmail, readName } from './members/make-person.ts';
export { offerSetup } from './members/offer-link.ts';
export { testRecipient } from './members/own-address.ts';
export { type ResealFactorsOptions, resealFactors } from './members/re-encrypt-factors.ts';
export {
  findOrganizationOf,
  isSetUp,
  listDigestAddresses,
  listMembers,
  listOrganizations,
  listProjectsOf,
} from './members/reads.ts';
export { requireOperator } from './members/require-operator.ts';
export { resetAccess } from './members/reset-access.ts';
export { insertOrganization, lockOrganization, lockOrganizations, upsertMember } from './members/store.ts';
export type { Access } from './members/team.ts';
export { findProject } from './projects/find-project.ts';
export { getSettings } from './projects/get-settings.ts';
export type { Installation, Release } from './projects/installation.ts';
export { listDemos, listProjects } from './projects/list-projects.ts';
export { type ProjectSettings, listSettings } from './projects/list-settings.ts';
export { type Project, checkName, invalid, toProject, unknownProject } from './projects/project.ts';
export { type Pair, findPair, listSandboxes, setClosed, setSandbox } from './projects/sandbox.ts';
export { readChanges, setSettings } from './projects/set-settings.ts';
export {
  type SettingName,
  type Settings,
  describeSettings,
  readSettings,
  settingsOfSandbox,
} from './projects/settings.ts';
export {
  adoptProjects,
  countProjectsOf,
  insertProject,
  insertRateLimits,
  listRateLimitRows,
  nextProjectId,
  replaceSettings,
  updateRateLimit,
  updateSuspended,
} from './projects/store.ts';
export { eraseViews } from './views/erase-views.ts';
export { listViews } from './views/reads.ts';
export { SCREENS, type View } from './views/store.ts';
export { deleteView, saveView } from './views/view.ts';
