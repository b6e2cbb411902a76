import type { TransportEmail, Transport } from '../src/modules/delivery/transport.ts';
import type { SendResult } from '../src/platform/mail/send-result.ts';

/** A transport that keeps all emails. The test sets its results; by default each email is sent. */
export type TestTransport = Transport & {
  emails: TransportEmail[];
  /** Sets the result of the next emails. */
  setResult(result: SendResult | ((email: TransportEmail) => Promise<SendResult>)): void;
};

export function testTransport(slots?: number): TestTransport {
  const emails: TransportEmail[] = [];
  let resultFor: (email: TransportEmail) => Promise<SendResult> = () => Promise.resolve({ result: 'sent' });
  return {
    ...(slots === undefined ? {} : { slots }),
    emails,
    setResult(next) {
      resultFor = typeof next === 'function' ? next : () => Promise.resolve(next);
    },
    submit(email) {
      emails.push(email);
      return resultFor(email);
    },
  };
}
