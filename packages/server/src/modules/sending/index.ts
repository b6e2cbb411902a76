export { checkDueDomains } from './domains/check-due-domains.ts';
export { checkTrackingHosts } from './domains/check-tracking-hosts.ts';
export { addDomain } from './domains/change-domain.ts';
export { type MailSettings, organizationOf, printThrottle, type SendingDomain } from './domains/domain.ts';
export { showDomains } from './domains/domain-view.ts';
export { createTrackingHosts, probeResponse, TRACKING_PATHS } from './domains/tracking.ts';
export { reencryptDkimKeys } from './domains/re-encrypt-keys.ts';
export { listDomains, listKeys, listSpfFaults } from './domains/reads.ts';
export { recordsOf } from './domains/records.ts';
export { type Signer, type Signers, createSigners, findSending } from './domains/signers.ts';
export { pauseDomain } from './domains/store.ts';
export { changeModes, moveOpenDrafts, writeMoves } from './drafts/move-drafts.ts';
export type { AskUpdate, EmailEnd } from './emails/email-end.ts';
export {
  countEmails,
  findEmail,
  type EmailRecord,
  type EmailCursor,
  type EmailFound,
  listEmails,
  WAS_SENT,
} from './emails/list-emails.ts';
export { keepBucket, readBucket, takeFreeSendLock, type ThrottleBucket } from './emails/send-lock.ts';
export { endSkipped, takeBackSkipped } from './emails/skipped-store.ts';
export {
  type NewEmail,
  type DomainLimitRow,
  type Submission,
  deleteFrozen,
  deleteEmails,
  endEmails,
  insertEmails,
  recordDelivered,
  markSubmitting,
  upsertDomainLimits,
  withdrawClaims,
} from './emails/store.ts';
export { resolveEmails, updateAsks } from './emails/unknown-store.ts';
export {
  type AssignedRelays,
  chooseRelay,
  connectionKey,
  INSTALLATION,
  type ConfiguredRelay,
  type RelayId,
  type RelayRef,
} from './relays/relay.ts';
export { findRelayWithSecrets, findUsableRelay } from './relays/find-relay.ts';
export { changeRelay } from './relays/change-relay.ts';
export { fieldView } from './relays/relay-view.ts';
export {
  findAssignedRelays,
  findRelayRefs,
  findSmtpUrlRelay,
  hasAssignedRelay,
  hasAssignments,
  hasFallbackRelay,
} from './relays/reads.ts';
export { listUnprovenNames, listUnprovenRelays, listUsedRelayIds } from './relays/used-relays.ts';
export { readRelaySettings } from './relays/read-settings.ts';
export { reencryptRelaySecrets } from './relays/re-encrypt-secrets.ts';
export {
  markFeedbackProven,
  markFeedbackProvenBy,
  updateFeedbackCursor,
  updateHealth as updateRelayHealth,
} from './relays/store.ts';
export { createSendLock, takeSendLock } from './emails/lock-store.ts';
export { type DatabaseTimeline, RESTORE_GUARDS, type RestoreGuard } from './restores/database-timeline.ts';
export { carryAcceptance, maySendEmails } from './restores/restore-guard.ts';
export {
  acceptDatabase,
  isAccepted,
  findAcceptance,
  lockDatabaseTimelines,
  recordIdentity,
  revokeAcceptance,
} from './restores/store.ts';
export {
  type SuppressionHasher,
  openSuppressionHasher,
  reencryptSuppressionKey,
} from './suppressions/hasher.ts';
export {
  type FoundSuppression,
  findTopicUnsubscribes,
  findSuppressions,
  listHashingProjects,
  listInForce,
} from './suppressions/reads.ts';
export type {
  ClearTarget,
  HashedKind,
  SuppressedKind,
  SuppressionTarget,
  SuppressionReason,
  HashedTarget,
} from './suppressions/suppression.ts';
export type { EmailCheck } from './email-checks/check.ts';
export { type CheckedMail, checkMail } from './email-checks/checks.ts';
export { type ReadMail, readMail, readSubject } from './email-checks/read-mail.ts';
export { redactTokens } from './email-checks/own-links.ts';
export { HAS_SLOT, type Cap, heldByCap, capUntil, remainingSlots } from './emails/caps.ts';
