import { capital, named } from '../../parts/codes.ts';

const DECISIONS: Record<string, string> = {
  fired: 'Enrolled',
  armed: 'Waiting for its date',
  bulk: 'Not enrolled: bulk change',
  definition_change: 'Not enrolled: audience definition changed',
  rule_off: 'Not enrolled: rule off',
  filter: 'Not enrolled: property filter',
  suppressed: 'Not enrolled: triggers suppressed',
  before_enable: 'Not enrolled: before the rule was turned on',
  too_old: 'Not enrolled: event too old',
  superseded: 'Not enrolled: subject replaced or ended',
  over: 'Not enrolled: date has passed',
  not_absent: 'Not enrolled: the event happened',
  only_if: 'Not enrolled: condition not met',
  exit: 'Not enrolled: exit condition or goal already met',
  already_entered: 'Not enrolled: enrolled before',
  in_cooldown: 'Not enrolled: cooldown',
  in_progress: 'Not enrolled: already in a run',
  left_audience: 'Not enrolled: left the audience',
  no_address: 'Not enrolled: no address',
  address_suppressed: 'Not enrolled: suppressed',
  topic_refused: 'Not enrolled: topic unsubscribed',
  run_limit: 'Not enrolled: run limit reached',
  holdout: 'Holdout group',
};

/** The decision of a rule about a user. */
export function decisionWords(reason: string): string {
  return capital(named(DECISIONS, reason));
}
