import { capital, named } from '../../parts/codes.ts';

const DECISIONS: Record<string, string> = {
  fired: 'Enrolled',
  starts_later: 'Starts later',
  bulk_request: 'Not enrolled: changed by a bulk request',
  definition_change: 'Not enrolled: audience definition changed',
  rule_off: 'Not enrolled: rule off',
  filter: 'Not enrolled: property filter',
  suppressed: 'Not enrolled: triggers suppressed',
  before_enable: 'Not enrolled: before the rule was enabled',
  too_old: 'Not enrolled: event too old',
  superseded: 'Not enrolled: its trial, card or other item was replaced or has ended',
  date_passed: 'Not enrolled: date has passed',
  not_absent: 'Not enrolled: the event happened',
  only_if: 'Not enrolled: condition not met',
  exit_condition: 'Not enrolled: exit condition or goal already met',
  already_entered: 'Not enrolled: enrolled before',
  in_cooldown: 'Not enrolled: cooldown',
  in_progress: 'Not enrolled: already in a run',
  left_audience: 'Not enrolled: left the audience',
  no_address: 'Not enrolled: no address',
  address_suppressed: 'Not enrolled: suppressed',
  topic_unsubscribed: 'Not enrolled: topic unsubscribed',
  run_limit: 'Not enrolled: run limit reached',
  holdout: 'Holdout group',
};

/** The decision of a rule about a user. */
export function decisionWords(reason: string): string {
  return capital(named(DECISIONS, reason));
}
