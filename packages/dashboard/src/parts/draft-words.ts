import { capital, named } from './codes.ts';
import { reasonWords } from './policy-words.ts';

const ACTIONS: Record<string, string> = {
  compose: 'Drafting started',
  schedule: 'Drafted',
  create_resend: 'Created as a resend',
  hold: 'Held',
  release: 'Released',
  approve: 'Approved',
  edit: 'Edited',
  postpone: 'Postponed',
  skip: 'Skipped',
  undo: 'Undone',
  open_editor: 'Editor opened',
  close_editor: 'Editor closed',
  refresh_content: 'Content refreshed',
  ai_rewrite: 'Text replaced by AI drafting',
  hold_while_sending: 'Held while sending',
  void_approval: 'Approval withdrawn',
  change_mode: 'Sending mode changed',
  resume: 'Rescheduled after a pause',
  cancel: 'Canceled',
  claim: 'Sending started',
  sent: 'Sent',
  fail: 'Failed',
  mark_unknown: 'Delivery unknown',
  mark_unknown_after_restore: 'Delivery unknown after a restore',
  retry: 'Deferred by the recipient’s server',
  return: 'Returned, not sent',
  resolve: 'Delivery resolved by an outcome',
  ask_again: 'Relay asked again',
  keep_unknown: 'Delivery stays unknown',
  send_again: 'Resent',
};

/** The reasons of drafts besides those that hold them. */
const DRAFT_REASONS: Record<string, string> = {
  claimed: 'queued for sending',
  email_suppressed: 'suppressed',
  email_rule_off: 'rule disabled',
  expired: 'expired',
  rule_no_longer_holds: 'conditions no longer met',
  exit_condition: 'exit condition',
  facts_changed: 'user data changed',
  skipped: 'skipped by a member',
  bounced: 'bounced',
  rejected: 'rejected by the recipient’s server',
  relay_unreachable: 'relay unreachable',
  relay_rejected: 'rejected by the relay',
  relay_failing: 'relay rejects many emails',
  address_changed: 'address changed',
  not_composed: 'email could not be composed',
  possibly_sent: 'may have been sent before the restore',
  lost: 'worker stopped while sending',
  window_closed: 'relay no longer recognizes the request',
  database_restored: 'database restored since',
  relay_deleted: 'relay deleted',
  relay_changed: 'relay settings changed',
  suspended: 'project suspended',
  sent_again: 'resent by a member',
  bytes_deleted: 'raw email no longer stored',
  already_received: 'relay received the first request',
  repeat_refused: 'relay refused the repeated request',
  erased: 'user erased',
};

/** An action on a draft. */
export function actionWords(action: string): string {
  return capital(named(ACTIONS, action));
}

/** Why a draft has its state. The reason of a skip is a member's own text and stays unchanged. */
export function draftReasonWords(reason: string): string {
  return (Object.hasOwn(DRAFT_REASONS, reason) ? DRAFT_REASONS[reason] : undefined) ?? reasonWords(reason);
}
