export { freeze } from './compose-email.ts';
export { evaluateAgain, loadEvidence } from './evaluate.ts';
export { findOutlet, findSender } from './find-sender.ts';
export { type LookAhead, lookAhead, lookAheadOfAll } from './look-ahead.ts';
export { createProviders, type SendServices } from './send-services.ts';
export { relayTransport } from './relay-transport.ts';
export { markEmail, smtpUrlMarker } from './mark-email.ts';
export { type CopyRelays, submitCopy } from './submit-copy.ts';
export { relayOpener } from './open-relay.ts';
export { type Gates, addressOf, loadGates, policyOf } from './send-checks.ts';
export { type DueDraftSender, createSender } from './send-email.ts';
export { type DraftSender, startSender } from './sender.ts';
export { readSendingState } from './show-sending.ts';
export {
  type TeamTransport,
  createAccountEmails,
  createTeamTransport,
  type TeamEmail,
} from './team-email.ts';
export type { OpenRelayTransport, TransportEmail, Transport } from './transport.ts';
export { TEST_INBOX_DOMAIN } from './sender-identity.ts';
export { quietHoursInForce, quietUntil, quietSpans } from './gate/quiet-hours.ts';
export { type GateReason, type GateResult, gate } from './gate/gate.ts';
export { type DraftForecast, type Queue, simulateQueue, type QueuedDraft } from './gate/simulate.ts';
export type { Policy, GateFacts } from './gate/facts.ts';
export { refill, type Throttle } from './gate/limits.ts';
export { type FrozenRow, findFrozen, findEarlier, findClaims, findEmailById } from './email-rows.ts';
