import { type Check, type CheckedLetter, type Finding, findingsOf, judged } from './check.ts';
import { headersOf } from './check-headers.ts';

/** The headers that the signature must cover, so that they cannot be changed in transit. RFC 8058 requires the last two. */
const COVERED = ['from', 'to', 'subject', 'list-unsubscribe', 'list-unsubscribe-post'];

/** Checks whether the email has a valid signature of its domain. */
export function checkDkim({ mail, dkim, kind }: CheckedLetter): Check {
  const open = COVERED.filter((name) => headersOf(mail, name).length > 0 && !dkim.covered.includes(name));
  switch (dkim.result) {
    case 'none':
      return judged(
        'dkim',
        kind === 'team' ? [] : [UNSIGNED],
        'An email to the team does not need a signature.',
      );
    case 'unknown':
      return judged('dkim', [{ ...STRANGE, detail: [dkim.detail] }], '');
    case 'fail':
      return judged('dkim', [{ ...BROKEN, detail: [dkim.detail] }], '');
    case 'pass':
      return judged(
        'dkim',
        findingsOf('error', 'The signature does not cover required headers.', open),
        `Signed by ${dkim.detail}, and the signature is valid.`,
      );
    default:
      return dkim.result satisfies never;
  }
}

const UNSIGNED: Finding = {
  status: 'warning',
  message:
    'The email is not signed. Add the sender’s domain with beckon domains add before you send real emails.',
};
const STRANGE: Finding = {
  status: 'warning',
  message: 'The email is signed with a key that does not, or no longer, belong to this project’s domains.',
};
const BROKEN: Finding = {
  status: 'error',
  message:
    'Its signature is invalid, so receivers would reject it. The email was changed after it was signed.',
};
