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
};

export type ResolvedEmail = {
  projectId: number;
  draftId: string;
  state: 'sent' | 'failed';
  reason: string | null;
};

/** The email was not submitted. It is returned only while it is claimed, and not if its holder has submitted it since. */
export function isUnsubmitted({ result }: SendResult): boolean {
  return result === 'returned' || result === 'withheld';
}
