import type { RelayRef } from '../sending/index.ts';
import type { GateResult } from './gate/gate.ts';

/** An email whose delivery is unknown, and whose relay recognizes a repeated request. */
export type UnknownEmail = {
  draftId: string;
  id: string;
  address: string;
  domain: string;
  relay: string;
  relayGeneration: number;
  /** When its result was recorded as unknown. */
  endedAt: number;
  /** How often the relay was asked before. */
  asks: number;
  /** The end of the relay's window, with a margin. */
  askUntil: number;
};

export type AskFacts = {
  email: UnknownEmail;
  now: number;
  /** Null if the relay was deleted. */
  relay: RelayRef | null;
  /** The last time at which another copy of this database may have sent emails. */
  restoredAt: number;
  isSuspended: boolean;
  /** A member has sent the email again as a new draft. */
  isSentAgain: boolean;
  /** The stored bytes of the first request. */
  hasBytes: boolean;
  /** The present normalized address of the user. Undefined if the user was erased. */
  address: string | null | undefined;
};

/** Why a relay is not asked what became of an email, besides the send checks. */
export type KeepReason =
  | 'window_closed'
  | 'database_restored'
  | 'relay_deleted'
  | 'relay_changed'
  | 'suspended'
  | 'sent_again'
  | 'bytes_deleted'
  | 'erased'
  | 'address_changed'
  | 'already_received'
  | 'repeat_refused'
  | 'relay_unreachable';

/** Returns why the relay can never be asked about this email again. Null: the send checks decide. */
export function keepReasonOf(facts: AskFacts): KeepReason | null {
  const { email, now, relay, address } = facts;
  if (now >= email.askUntil) return 'window_closed';
  if (email.endedAt <= facts.restoredAt) return 'database_restored';
  if (relay === null) return 'relay_deleted';
  // Other settings may be those of another account, which has never seen the key.
  if (relay.generation !== email.relayGeneration) return 'relay_changed';
  if (facts.isSuspended) return 'suspended';
  if (facts.isSentAgain) return 'sent_again';
  if (!facts.hasBytes) return 'bytes_deleted';
  if (address === undefined) return 'erased';
  return address === null || address === email.address ? null : 'address_changed';
}

type AskDecision =
  /** `nextAt`: when it is asked again if there is no definite answer, or if this process ends. */
  | { act: 'ask'; nextAt: number }
  | { act: 'wait'; until: number }
  | { act: 'keep'; reason: string; detail: Record<string, unknown> };

/** The time to the next question, by the number of questions before; the last one repeats. */
const NEXT_MS = [1, 2, 3, 5, 15, 30, 60, 120, 240].map((minutes) => minutes * 60_000);

/** Decides by the result of the send checks, which the first request passed as well. */
export function decideAsk(
  { asks, askUntil }: Pick<UnknownEmail, 'asks' | 'askUntil'>,
  gateResult: GateResult,
  now: number,
): AskDecision {
  if (gateResult.passes) return { act: 'ask', nextAt: now + (NEXT_MS[asks] ?? NEXT_MS.at(-1) ?? 0) };
  const { reason, until, detail } = gateResult;
  return until === null || until >= askUntil ? { act: 'keep', reason, detail } : { act: 'wait', until };
}
