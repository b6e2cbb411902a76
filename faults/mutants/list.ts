/**
 * Defects that somebody might well write, each a patch of the product as it is. A run of faults that does not show one of
 * them proves little of the others: so each has to be seen, by the invariant that it breaks.
 */
export type Mutant = {
  /** Also that of its file, without the ending. */
  name: string;
  /** Any of these is enough. */
  breaks: string[];
  /** The faults among which it shows, as `faults/main.ts --only` wants them, and for how long. */
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
