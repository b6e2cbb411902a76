export { addressForAudit, testRecipientForAudit } from './audit/entry.ts';
export { listEntries } from './audit/store.ts';
export { sendEmail } from './dashboard-api/email-frame.ts';
export { lastEventId, sendPieces, serveEvents } from './dashboard-api/streams.ts';
export { type Feeds, createFeeds } from './dashboard-api/feeds.ts';
export {
  type RouteRequest,
  type DashboardRoute,
  type KitDeps,
  routesFor,
  SENT,
} from './dashboard-api/route.ts';
export { readMoment } from './dashboard-api/check-request.ts';
export { type CsvColumns, sendCsv } from './dashboard-api/csv.ts';
export {
  badCursor,
  isId,
  type ListQuery,
  pageOfAll,
  readPage,
  timeAndId,
  toPage,
  wholeList,
} from './dashboard-api/pages.ts';
export { type AccountEmails, testRecipient } from './members/account-emails.ts';
export { countWithin } from './members/attempts.ts';
export { type Team, createTeam } from './members/create-team.ts';
export { hashNewPassword, signInWith } from './members/links-routes.ts';
export { offerSetup } from './members/links.ts';
export { isLocalShell } from './members/local-shell.ts';
export { type NewAccount, readEmail, readName } from './members/make-person.ts';
export { reencryptFactors, type ReencryptFactorsOptions } from './members/factor-secrets.ts';
export {
  findOrganizationOf,
  listDigestAddresses,
  listMembers,
  listOrganizations,
  listProjectsOf,
} from './members/reads.ts';
export { type Installation, type Release, requireOperator } from './members/installation.ts';
export { resetAccess } from './members/reset-access.ts';
export { lockOrganization } from './members/store.ts';
export type { Access } from './members/team.ts';
export {
  findProject,
  invalid,
  listDemos,
  listProjects,
  type Project,
  toProject,
  unknownProject,
} from './projects/project.ts';
export {
  getSettings,
  listSettings,
  type ProjectSettings,
  readChanges,
  zoneOfProject,
} from './projects/project-settings.ts';
export { type Pair, findPair } from './projects/sandbox.ts';
export {
  type SettingName,
  type Settings,
  describeSettings,
  readSettings,
  settingsOfSandbox,
  printSettings,
} from './projects/settings.ts';
export type { ProjectRow } from './projects/reads.ts';
export { setUpOrganization } from './members/set-up-organization.ts';
