import { iso } from '../base/clock.ts';
import type { KeptMail } from '../features/test-inbox/index.ts';
import type { ShownMail } from '../flows/test-inbox/index.ts';
import { printable } from './audience-output.ts';
import { table } from './table.ts';

export type ListedMail = ReturnType<typeof toListed>;

/** Under the names of the interface. */
export function toListed(mail: KeptMail) {
  const { id, draftId, rcptTo, subject, at, userId, mailFrom, size, copy, copies } = mail;
  return {
    id,
    draft_id: draftId,
    to: rcptTo,
    subject,
    at: iso(at),
    external_user_id: userId,
    mail_from: mailFrom,
    size,
    copy,
    copies,
  };
}

export function toShown({ mail, html, text, checks }: ShownMail) {
  return { ...toListed(mail), raw: mail.raw.toString('utf8'), html, text, checks };
}

const EMPTY = [
  'The outbox has no such letter. Letters arrive here while no SMTP_URL is set; with one they go to that relay.',
  'What waits shows draft list, and draft approve lets it leave at once.',
].join('\n');

export function describeList(rows: ListedMail[]): string {
  const shown = rows.map(({ at, id, to, subject, external_user_id, size, copy, copies }) => ({
    at,
    id,
    to,
    subject,
    external_user_id,
    size,
    copy: copies === 1 ? '' : `${copy} of ${copies}`,
  }));
  return [table(shown, EMPTY), ...describeDoubles(rows)].join('\n\n');
}

/** A letter leaves once: where it did not, nobody shall have to look for it. */
function describeDoubles(rows: ListedMail[]): string[] {
  const doubles = new Set(rows.filter(({ copies }) => copies > 1).map(({ id }) => id));
  if (doubles.size === 0) return [];
  const letters = doubles.size === 1 ? 'A letter' : `${doubles.size} letters`;
  return [`${letters} arrived more than once, which must not be: please report it`];
}

export function describeWhole(shown: ReturnType<typeof toShown>): string {
  const { id, copy, copies, to, subject, at, mail_from: from, size, draft_id: draft, text, checks } = shown;
  const facts = { subject, to, mail_from: from, at, size, draft_id: draft, copy: `${copy} of ${copies}` };
  const lines = Object.entries(facts).map(([name, value]) => `${name.padEnd(10)}${value ?? '-'}`);
  return [
    printable([id, ...lines.map((line) => line.replaceAll('\n', ' '))].join('\n')),
    checks.map(describeCheck).join('\n'),
    printable(text.replaceAll('\r\n', '\n').trimEnd()),
    ...describeDoubles([shown]),
  ].join('\n\n');
}

const MARKS = { ok: 'ok     ', warning: 'WARNING', error: 'ERROR  ' } as const;

function describeCheck({ name, status, message, detail = [] }: ShownMail['checks'][number]): string {
  const head = `${MARKS[status]}  ${name.padEnd(12)}  ${message}`;
  return printable([head, ...detail.map((line) => `${' '.repeat(23)}${line}`)].join('\n'));
}
