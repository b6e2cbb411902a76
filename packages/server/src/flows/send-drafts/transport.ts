import type { Content } from '../../features/drafts/index.ts';

/** A letter that may leave, as it was approved or fell due. */
export type OutgoingLetter = {
  projectId: number;
  draftId: string;
  messageId: string;
  userId: string;
  address: string;
  content: Content;
};

/** `unknown`: it may have arrived, and is never tried again by itself. */
export type Handed = { result: 'sent' } | { result: 'failed' | 'unknown'; reason: string };

/** What hands letters over. It answers for each letter once. */
export type Transport = { hand(letter: OutgoingLetter): Promise<Handed> };
