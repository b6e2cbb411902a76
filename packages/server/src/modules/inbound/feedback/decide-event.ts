import { type OutcomeData, classifyText } from '../../outcomes/index.ts';
import { redactTokens } from '../../sending/index.ts';
import type { RelayEvent } from '../../../platform/relays/adapter.ts';

/** The action for an event of a provider. */
export type FeedbackAction =
  | { act: 'nothing' }
  /** The relay had accepted the email, which settles an unknown delivery. */
  | { act: 'delivered' }
  | { act: 'outcome'; data: OutcomeData };

/** Opens, clicks and unsubscribes are not among the events, because Beckon counts them itself. */
export function decideEvent(event: RelayEvent): FeedbackAction {
  switch (event.kind) {
    case 'delivered':
      return { act: 'delivered' };
    case 'deferred':
      return { act: 'nothing' };
    case 'complained':
      return { act: 'outcome', data: { type: 'email.unsubscribed', method: 'complaint' } };
    case 'bounced':
    case 'dropped':
      return { act: 'outcome', data: bounceOf(event) };
    default:
      return event.kind satisfies never;
  }
}

/** The class of the provider counts as the category of a report: the words of the receiving server may say more. */
function bounceOf({ kind, text, status, code, bounceClass }: RelayEvent): OutcomeData {
  const replyCode = code ?? codeIn(text);
  const reason = text === '' ? REASONS[kind === 'dropped' ? 'dropped' : 'bounced'] : redactTokens(text);
  return {
    type: 'email.bounced',
    bounceClass: classifyText({ texts: [text], status, replyCode, stage: null, category: bounceClass }),
    status,
    reason,
    source: 'relay',
    verified: true,
  };
}

const REASONS = {
  dropped: 'The relay did not try to deliver the email',
  bounced: 'The relay reports a bounce without a reason',
};

function codeIn(text: string): number | null {
  const [, code] = /(?:^|[^\d.])([45]\d\d)[ -]/.exec(text) ?? [];
  return code === undefined ? null : Number(code);
}

/** Only a negative outcome proves that feedback works: it is what would be missed. */
export function provesFeedback({ kind }: RelayEvent): boolean {
  return kind === 'bounced' || kind === 'dropped' || kind === 'complained';
}
