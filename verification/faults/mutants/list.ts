/**
 * Plausible defects, each a patch of the current sources. A fault run that misses one of them proves little about others, so each must be
 * detected by the invariant that it breaks.
 */

export type Mutant = {
  /** Also the name of its file, without the extension. */
  name: string;
  /** Any of these invariants is enough. */
  breaks: string[];
  /** The faults that reveal it, in the syntax of `verification/faults/main.ts --only`, and for how long. */
  only: string;
  minutes: number;
};

export const MUTANTS: Mutant[] = [
  { name: '01-answer-before-commit', breaks: ['I1'], only: 'F3', minutes: 1 },
  { name: '02-commit-not-synchronous', breaks: ['I1'], only: 'F3', minutes: 1.5 },
  { name: '03-key-in-another-transaction', breaks: ['I1'], only: 'F2,S3', minutes: 1.5 },
  { name: '04-no-epoch-check', breaks: ['I5'], only: 'S2', minutes: 2.5 },
  { name: '05-attempt-after-post', breaks: ['I8'], only: 'F2', minutes: 1 },
  { name: '06-redirect-followed', breaks: ['I7', 'I8'], only: 'F9', minutes: 1 },
  { name: '07-retry-drops-id', breaks: ['I7'], only: 'F9', minutes: 1 },
  { name: '08-webhook-outside-transaction', breaks: ['I7'], only: 'S3', minutes: 1.5 },
  { name: '09-cap-off-by-one', breaks: ['I10'], only: 'S1', minutes: 0.5 },
  { name: '10-revoked-key-remembered', breaks: ['I11'], only: 'F9', minutes: 1.5 },
  { name: '11-move-not-written', breaks: ['I9'], only: 'F9', minutes: 0.5 },
  { name: '12-unknown-sent-again', breaks: ['I5'], only: 'F2', minutes: 1 },
];
