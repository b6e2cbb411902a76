import type { Handed, OutgoingLetter, Transport } from '../src/flows/send-drafts/index.ts';

/** Letters end here. What it answers is set by whoever tests; the default is that they were sent. */
export type TestTransport = Transport & {
  letters: OutgoingLetter[];
  /** The next letters are answered so. */
  answer(handed: Handed | ((letter: OutgoingLetter) => Promise<Handed>)): void;
};

export function testTransport(slots?: number): TestTransport {
  const letters: OutgoingLetter[] = [];
  let answer: (letter: OutgoingLetter) => Promise<Handed> = () => Promise.resolve({ result: 'sent' });
  return {
    ...(slots === undefined ? {} : { slots }),
    letters,
    answer(handed) {
      answer = typeof handed === 'function' ? handed : () => Promise.resolve(handed);
    },
    hand(letter) {
      letters.push(letter);
      return answer(letter);
    },
  };
}
