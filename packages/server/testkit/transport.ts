import type { Handed, TransportEmail, Transport } from '../src/modules/delivery/transport.ts';

/** A transport that keeps all emails. The test sets its results; by default each email is sent. */
export type TestTransport = Transport & {
  emails: TransportEmail[];
  /** Sets the result of the next emails. */
  answer(handed: Handed | ((email: TransportEmail) => Promise<Handed>)): void;
};

export function testTransport(slots?: number): TestTransport {
  const emails: TransportEmail[] = [];
  let answer: (email: TransportEmail) => Promise<Handed> = () => Promise.resolve({ result: 'sent' });
  return {
    ...(slots === undefined ? {} : { slots }),
    emails,
    answer(handed) {
      answer = typeof handed === 'function' ? handed : () => Promise.resolve(handed);
    },
    hand(email) {
      emails.push(email);
      return answer(email);
    },
  };
}
