export { addDomain } from './domains/change-domain.ts';
export { type MailSettings, organizationOf, printThrottle, type SendingDomain } from './domains/domain.ts';
export { showDomains } from './domains/domain-view.ts';
export { createTrackingHosts, linksBaseOf, probeAnswer, TRACKING_PATHS } from './domains/tracking.ts';
export { resealKeys } from './domains/re-encrypt-keys.ts';
export { type DomainTrouble, listDomains, listKeys, listTroubles } from './domains/reads.ts';
export { recordsOf } from './domains/records.ts';
export { type Signer, type Signers, createSigners, findSending } from './domains/signers.ts';
export { pauseDomain } from './domains/store.ts';
export { changeModes, moveOpenDrafts, writeMoves } from './drafts/move-drafts.ts';
export {
  type ThrottleBucket,
  type Cap,
  CONTEND_WITHIN_MS,
  type Contender,
  refill,
  slotsLeft,
  takeTokens,
  type Throttle,
  warmupDay,
  warmupLeft,
  warmupTroubled,
  whoYields,
} from './emails/limits.ts';
export type { MessageEnd } from './emails/email-end.ts';
export {
  type EarlierMessage,
  type FrozenRow,
  type HandedMessage,
  countForWarmup,
  countSentTo,
  findClaims,
  findEarlier,
  findFrozen,
  findHanded,
  findMessageById,
  findOtherClaims,
  listLastReplies,
  listLost,
  listNarrow,
} from './emails/email-rows.ts';
export type { GateFacts, Outlet, Policy } from './emails/facts.ts';
export {
  BECAME,
  countEmails,
  findEmail,
  findProjectOfMessage,
  hasMessages,
  type EmailRecord,
  type EmailCursor,
  listEmails,
  MESSAGE_STATES,
} from './emails/list-emails.ts';
export { type GateAnswer, type GateReason, gate } from './emails/gate.ts';
export { MIME_MAX_BYTES, packMime } from './emails/pack-mime.ts';
export { quietHoursInForce, quietSpans, quietUntil } from './emails/quiet-hours.ts';
export { keepBucket, openSendTurn, readBucket, takeFreeSendTurn, takeSendTurn } from './emails/send-lock.ts';
export { type Identity, TEST_INBOX_DOMAIN, senderGate, senderOf } from './emails/sender.ts';
export { type DraftForecast, type Queue, type QueuedDraft, simulating } from './emails/simulate.ts';
export { endSkipped, takeBackSkipped } from './emails/skipped-store.ts';
export {
  type MessageRow,
  type NarrowRow,
  type Submission,
  deleteFrozen,
  deleteMessages,
  endMessages,
  insertMessages,
  resolveMessages,
  submitMessages,
  upsertNarrow,
  withdrawClaims,
} from './emails/store.ts';
export { type Lineage, RESTORE_GUARDS, type RestoreGuard } from './restores/lineage.ts';
export { carryAcceptance, mayEmailsLeave } from './restores/restore-guard.ts';
export { acceptPlace, isAccepted, lockLineage, noteHere, takeBackAcceptance } from './restores/store.ts';
export {
  type SuppressionHasher,
  openSuppressionHasher,
  resealSuppressionKey,
} from './suppressions/hasher.ts';
export { deleteLifts, movePlaces } from './suppressions/move-store.ts';
export {
  type FoundSuppression,
  type LiftedSuppression,
  SUPPRESSIONS_PAGE_MAX,
  countSuppressions,
  findKept,
  findLift,
  findRefusals,
  findSuppression,
  findSuppressions,
  hasUnsubscribed,
  listAllSaid,
  listHashingProjects,
  listInForce,
  listSuppressions,
  searchSuppressions,
} from './suppressions/reads.ts';
export {
  addSuppression,
  addSuppressions,
  liftSuppressions,
  liftSuppressionsBy,
  setRefusals,
} from './suppressions/store.ts';
export {
  type ClearPlace,
  type HashedKind,
  isAboutAddress,
  isHashed,
  LIFTED_BY_LIFE,
  SAID_BY_RECIPIENT,
  type StoredSuppression,
  type SuppressedKind,
  type SuppressedPlace,
  type Suppression,
  SUPPRESSION_REASONS,
  type SuppressionReason,
} from './suppressions/suppression.ts';
export type { EmailCheck } from './test-inbox/check.ts';
export { type CheckedMail, checkMail } from './test-inbox/checks.ts';
export { keepMail } from './test-inbox/keep-mail.ts';
export {
  type KeptMail,
  MAIL_MAX_BYTES,
  type NewMail,
  TEST_INBOX_KEPT_MAX,
  TEST_INBOX_KEPT_MS,
} from './test-inbox/mail.ts';
export { type ReadMail, readMail } from './test-inbox/read-mail.ts';
export { type WholeMail, countMail, findMail, listMail, listWholeMailOf } from './test-inbox/reads.ts';
export { redactTokens, withoutPixel } from './test-inbox/own-links.ts';
export { deleteMailBefore, deleteMailOf } from './test-inbox/store.ts';
