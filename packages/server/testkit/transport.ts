import type { Handed, OutgoingLetter, Transport } from '../src/modules/delivery/transport.ts';

/** A transport that keeps all emails. The test sets its results; by default each email is sent. */
export type TestTransport = Transport & {
  letters: OutgoingLetter[];
  /** Sets the result of the next emails. */
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
