import { type Check, type CheckedLetter, type Finding, judged } from './check.ts';

/** Gmail clips an email slightly above this size, together with the unsubscribe link at its end. */
const HTML_MAX_BYTES = 100_000;
const MAIL_MAX_BYTES = 1024 * 1024;
const NEAR = 0.8;
/** RFC 5322, 2.1.1. */
const LINE_MAX_BYTES = 998;

export function checkSize({ mail }: CheckedLetter): Check {
  const htmlBytes = Buffer.byteLength(mail.html);
  const findings = [
    ...near('The HTML', { bytes: htmlBytes, most: HTML_MAX_BYTES }),
    ...near('The whole email', { bytes: mail.size, most: MAIL_MAX_BYTES }),
  ];
  return judged('size', findings, `${kilobytes(mail.size)}, ${kilobytes(htmlBytes)} of it HTML.`);
}

function near(what: string, { bytes, most }: { bytes: number; most: number }): Finding[] {
  const has = `${what} has ${kilobytes(bytes)}`;
  if (bytes > most)
    return [{ status: 'error', message: `${has}; at most ${kilobytes(most)} are allowed. Shorten it.` }];
  if (bytes <= most * NEAR) return [];
  return [{ status: 'warning', message: `${has}. Above ${kilobytes(most)} it cannot be sent.` }];
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} KB`;
}

/** Checks whether the email can be parsed, and whether every server can relay it. */
export function checkMime({ mail }: CheckedLetter): Check {
  const findings: Finding[] = [];
  if (mail.trouble !== null)
    findings.push({
      status: 'error',
      message: `The email cannot be parsed, so no other check ran: ${mail.trouble}.`,
    });
  if (mail.longestLine > LINE_MAX_BYTES)
    findings.push({
      status: 'error',
      message: `A line has ${mail.longestLine} bytes. Servers may break or reject lines above ${LINE_MAX_BYTES}.`,
    });
  if (mail.trouble === null && mail.html === '')
    findings.push({
      status: 'warning',
      message: 'The email has no HTML, so users see plain text and bare URLs.',
    });
  return judged('mime', findings, 'The email is well formed.');
}
