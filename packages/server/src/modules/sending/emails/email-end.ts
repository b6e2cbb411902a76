import type { SendResult } from '../../../platform/mail/send-result.ts';

/** How an attempt to send an email ended. */
export type EmailEnd = {
  projectId: number;
  draftId: string;
  /** The epoch of the claim. Null: the current claim of any worker. */
  epoch: number | null;
  sendResult: SendResult;
  /** The email waits for another attempt. */
  isAgain: boolean;
  /** If its delivery is unknown, its relay may be asked again. */
  isAskable?: true;
};

export type ResolvedEmail = {
  projectId: number;
  draftId: string;
  state: 'sent' | 'failed';
  reason: string | null;
  /** The answer of its relay and the id in it, if the relay was asked again. */
  reply?: string | undefined;
  relayId?: string | null | undefined;
};

/** An email whose delivery is unknown. `askAt`: null if its relay is not asked again. `isAsked`: it is asked now. */
export type AskUpdate = { draftId: string; askAt: number | null; isAsked: boolean };

/** The email was not submitted. It is returned only while it is claimed, and not if its holder has submitted it since. */
export function isUnsubmitted({ result }: SendResult): boolean {
  return result === 'returned' || result === 'withheld';
}
