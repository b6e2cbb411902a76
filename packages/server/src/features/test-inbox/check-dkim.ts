import { type Check, type CheckedLetter, type Finding, findingsOf, judged } from './check.ts';
import { headersOf } from './check-headers.ts';

/** What the signature must cover, so that nobody on the way can change it. RFC 8058 asks for the last two. */
const COVERED = ['from', 'to', 'subject', 'list-unsubscribe', 'list-unsubscribe-post'];

/** Does the letter carry a signature of its domain, and does that hold? */
export function checkDkim({ mail, dkim, kind }: CheckedLetter): Check {
  const open = COVERED.filter((name) => headersOf(mail, name).length > 0 && !dkim.covered.includes(name));
  switch (dkim.result) {
    case 'none':
      return judged('dkim', kind === 'team' ? [] : [UNSIGNED], 'A letter to the team need not be signed.');
    case 'unknown':
      return judged('dkim', [{ ...STRANGE, detail: [dkim.detail] }], '');
    case 'fail':
      return judged('dkim', [{ ...BROKEN, detail: [dkim.detail] }], '');
    case 'pass':
      return judged(
        'dkim',
        findingsOf('error', 'The signature leaves open what it should cover.', open),
        `Signed by ${dkim.detail}, and the signature holds.`,
      );
    default:
      return dkim.result satisfies never;
  }
}

const UNSIGNED: Finding = {
  status: 'warning',
  message: 'It is not signed: add the sender’s domain by domain add before real letters leave.',
};
const STRANGE: Finding = {
  status: 'warning',
  message: 'It is signed with a key that is not, or no longer, a key of this project’s domains.',
};
const BROKEN: Finding = {
  status: 'error',
  message:
    'Its signature does not hold, and receivers would refuse it: something changed the letter on its way.',
};
