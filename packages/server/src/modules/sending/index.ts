export { addDomain } from './domains/change-domain.ts';
export { organizationOf } from './domains/domain-name.ts';
export { showDomains } from './domains/domain-view.ts';
export { type MailSettings, type SendingDomain, printThrottle } from './domains/domain.ts';
export { probeAnswer } from './domains/probe-token.ts';
export { resealKeys } from './domains/re-encrypt-keys.ts';
export { type DomainTrouble, listDomains, listKeys, listTroubles } from './domains/reads.ts';
export { recordsOf } from './domains/records.ts';
export { type Signer, type Signers, createSigners, findSending } from './domains/signers.ts';
export { pauseDomain } from './domains/store.ts';
export { createTrackingHosts } from './domains/tracking-hosts.ts';
export { TRACKING_PATHS, linksBaseOf } from './domains/tracking.ts';
export { changeModes } from './drafts/change-mode.ts';
export { moveOpenDrafts } from './drafts/open-drafts.ts';
export { writeMoves } from './drafts/write-transitions.ts';
export { CONTEND_WITHIN_MS, type Cap, type Contender, slotsLeft, whoYields } from './emails/caps.ts';
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
export { findProjectOfMessage, hasMessages } from './emails/find-email-anywhere.ts';
export { type GateAnswer, type GateReason, gate } from './emails/gate.ts';
export {
  BECAME,
  type Letter,
  type LetterPlace,
  MESSAGE_STATES,
  countLetters,
  findLetter,
  listLetters,
} from './emails/list-emails.ts';
export { MIME_MAX_BYTES, packMime } from './emails/pack-mime.ts';
export { quietHoursInForce, quietSpans, quietUntil } from './emails/quiet-hours.ts';
export { keepBucket, openSendTurn, readBucket, takeFreeSendTurn, takeSendTurn } from './emails/send-lock.ts';
export { type Identity, TEST_INBOX_DOMAIN, senderGate, senderOf } from './emails/sender.ts';
export { type Fate, type Queue, type QueuedDraft, simulating } from './emails/simulate.ts';
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
export { type Bucket, type Throttle, refill, takeTokens } from './emails/throttle.ts';
export { warmupDay, warmupLeft, warmupTroubled } from './emails/warmup.ts';
export { type Lineage, RESTORE_GUARDS, type RestoreGuard } from './restores/lineage.ts';
export { carryAcceptance, mayLettersLeave } from './restores/restore-guard.ts';
export { acceptPlace, isAccepted, lockLineage, noteHere, takeBackAcceptance } from './restores/store.ts';
export {
  type SuppressionHasher,
  openSuppressionHasher,
  resealSuppressionKey,
} from './suppressions/hasher.ts';
export { deleteLifts, movePlaces } from './suppressions/move-store.ts';
export {
  type FoundSuppression,
  type Lift,
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
  LIFTED_BY_LIFE,
  SAID_BY_RECIPIENT,
  SUPPRESSION_REASONS,
  type StoredSuppression,
  type SuppressedKind,
  type SuppressedPlace,
  type Suppression,
  type SuppressionReason,
  isAboutAddress,
  isHashed,
} from './suppressions/suppression.ts';
export type { Check } from './test-inbox/check.ts';
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
export { redactTokens } from './test-inbox/redact.ts';
export { deleteMailBefore, deleteMailOf } from './test-inbox/store.ts';
export { withoutPixel } from './test-inbox/tracked.ts';
