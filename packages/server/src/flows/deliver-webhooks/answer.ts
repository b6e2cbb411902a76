import {
  type Claimed,
  type DeliveryResult,
  jitterShare,
  nextAttempt,
  TRIES_MAX,
} from '../../features/webhooks/index.ts';
import type { OutboundAnswer } from '../../io/outbound/index.ts';

/** What came of a request. `stopped`: nobody waited for its answer any longer, because the worker ended. */
export type Answer = { endedAt: number } & (
  | { kind: 'answered'; status: number; retryAfter: string | null; text: string }
  | { kind: 'failed'; error: string; text: string }
  | { kind: 'stopped' }
);
export type Answered = { delivery: Claimed; answer: Answer };

export function toAnswer(answer: OutboundAnswer, endedAt: number): Answer {
  return answer.ok
    ? {
        kind: 'answered',
        endedAt,
        status: answer.status,
        retryAfter: answer.retryAfter,
        text: storable(answer.answer),
      }
    : { kind: 'failed', endedAt, error: answer.error, text: storable(answer.detail) };
}

export function isGood(answer: Answer): boolean {
  return answer.kind === 'answered' && answer.status >= 200 && answer.status < 300;
}

export function resultOf({ delivery, answer }: Answered): DeliveryResult {
  const { projectId, endpointId, messageId, number } = delivery;
  const place = { projectId, endpointId, messageId, number, endedAt: answer.endedAt };
  const said = {
    status: answer.kind === 'answered' ? answer.status : null,
    error: errorOf(answer),
    answer: answer.kind === 'stopped' || answer.text === '' ? null : answer.text,
  };
  if (isGood(answer)) return { ...place, ...said, state: 'delivered', nextAt: null };
  const nextAt = againAt(delivery, answer);
  return { ...place, ...said, state: nextAt === null ? 'exhausted' : 'pending', nextAt };
}

function errorOf(answer: Answer): string | null {
  if (answer.kind === 'answered') return answer.status >= 300 && answer.status < 400 ? 'redirect' : null;
  return answer.kind === 'failed' ? answer.error : 'stopped';
}

/** One that was stopped is no failure of the endpoint: it goes again at once, if a try is left. */
function againAt({ messageId, endpointId, tries }: Claimed, answer: Answer): number | null {
  if (answer.kind === 'stopped') return tries < TRIES_MAX ? answer.endedAt : null;
  const failed = {
    tries,
    endedAt: answer.endedAt,
    status: answer.kind === 'answered' ? answer.status : null,
    retryAfter: answer.kind === 'answered' ? answer.retryAfter : null,
  };
  return nextAttempt(failed, jitterShare(messageId, endpointId, tries));
}

/** What the database takes, whatever it was. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\u{FFFD}');
}
