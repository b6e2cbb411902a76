import type { HashedKind, SuppressedKind, SuppressionReason } from '../../sending/index.ts';
import { isStorable } from '../../users/index.ts';
import { normaliseAddress } from '../../../platform/net/address.ts';
import { isEmail } from '../../../platform/records/email.ts';
import { ofPlainCell } from '../../../platform/text/csv.ts';
import { parseInstant } from '../../../platform/time/time-text.ts';
import { SUPPRESSION_REASONS } from '../suppressions/entries.ts';

/**
 * The columns of a list, in the order of an export. A row about an erased user has a `hash` in place of an address or a user,
 * and the `hash_key` that it was made with.
 */
export const COLUMNS = ['email', 'user', 'reason', 'until', 'created_at', 'hash', 'hash_key'] as const;
type Column = (typeof COLUMNS)[number];

/** The index of each column in a row. */
export type Columns = Map<Column, number>;

/** The columns of a list without a header. */
export const USUAL: Columns = new Map([
  ['email', 0],
  ['reason', 1],
  ['created_at', 2],
]);

/**
 * Returns the columns that the first row of a list names, and whether it is a header at all. A list may begin with its first address.
 * Columns with other names are ignored.
 */
export function columnsOf(first: string[]): { columns: Columns; isHeader: boolean } {
  const names = first.map((name) =>
    name
      .trim()
      .toLowerCase()
      .replaceAll(/[\s-]+/g, '_'),
  );
  const columns: Columns = new Map();
  for (const [at, name] of names.entries()) {
    const column =
      COLUMNS.find((candidate) => candidate === name) ?? (ADDRESS_NAMES.has(name) ? 'email' : undefined);
    if (column !== undefined && !columns.has(column)) columns.set(column, at);
  }
  const isHeader = columns.has('email') || columns.has('user') || columns.has('hash');
  return isHeader ? { columns, isHeader } : { columns: USUAL, isHeader };
}

/** Names of this column in the exports of other senders. */
const ADDRESS_NAMES = new Set(['email_address', 'e_mail', 'address', 'recipient']);

export type ImportEntry = {
  kind: SuppressedKind;
  value: string;
  reason: SuppressionReason;
  until: number | null;
  createdAt: number;
};

type RowProblem = { field: Column; message: string };
type ReadRow = { entry: ImportEntry } | { over: true } | { problem: RowProblem };

type RowRules = {
  now: number;
  /** The reason of rows that have none. */
  reason: SuppressionReason;
  /** The key id that hashes must carry: the one of the project that the list is imported into. */
  keyId: string;
};

/** Reads one row. `over`: the suppression ended before now. */
export function readRow(
  values: string[],
  columns: Columns,
  { now, reason: otherwise, keyId }: RowRules,
): ReadRow {
  const cell = (column: Column): string => values[columns.get(column) ?? -1] ?? '';
  const [email, user] = [ofPlainCell(cell('email')), ofPlainCell(cell('user'))];
  const [hash, hashKey] = [cell('hash').trim(), cell('hash_key').trim()];
  // Lists of other senders may have a column of this name beside their addresses.
  const isHashedRow = email === '' && user === '' && hash !== '';
  const subject = isHashedRow ? readHash({ hash, hashKey }, keyId) : readSubject(email, user);
  if ('problem' in subject) return subject;
  const reason = cell('reason') === '' ? otherwise : readReason(cell('reason'));
  if (reason === undefined)
    return problem(
      'reason',
      `${quoted(cell('reason'))} is not a reason. Use one of ${SUPPRESSION_REASONS.join(', ')}`,
    );
  const times = readTimes({ createdAt: cell('created_at'), until: cell('until') }, now);
  if ('problem' in times) return times;
  const { until } = times;
  if (reason === 'snoozed' && until === null) return problem('until', 'A snooze needs an end. Set until');
  return until !== null && until <= now ? { over: true } : { entry: { ...subject, reason, ...times } };
}

function readTimes(
  texts: { createdAt: string; until: string },
  now: number,
): Pick<ImportEntry, 'createdAt' | 'until'> | { problem: RowProblem } {
  const createdAt = texts.createdAt === '' ? now : parseInstant(texts.createdAt);
  if (!(createdAt <= now))
    return problem(
      'created_at',
      `${quoted(texts.createdAt)} is not a time in the past, such as 2026-03-01T00:00:00Z`,
    );
  const until = texts.until === '' ? null : parseInstant(texts.until);
  if (Number.isNaN(until))
    return problem('until', `${quoted(texts.until)} is not a time, such as 2026-03-01T00:00:00Z`);
  return { createdAt, until };
}

function readSubject(
  email: string,
  user: string,
): Pick<ImportEntry, 'kind' | 'value'> | { problem: RowProblem } {
  if (email === '' && user !== '')
    return isStorable(user)
      ? { kind: 'user', value: user }
      : problem('user', `${quoted(user)} is not a valid user ID`);
  if (!isEmail(email)) return problem('email', `${quoted(email)} is not an email address`);
  return user === ''
    ? { kind: 'email', value: normaliseAddress(email) }
    : problem('user', 'A row must have an email or a user, not both');
}

/** Names of reasons in the exports of other senders. */
const ALIASES = new Map<string, SuppressionReason>([
  ['unsubscribe', 'unsubscribed'],
  ['complaint', 'complained'],
  ['spam_complaint', 'complained'],
  ['spam', 'complained'],
  ['bounce', 'hard_bounce'],
  ['bounced', 'hard_bounce'],
]);

function readReason(text: string): SuppressionReason | undefined {
  const name = text
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_');
  return SUPPRESSION_REASONS.find((reason) => reason === name) ?? ALIASES.get(name);
}

function problem(field: Column, message: string): { problem: RowProblem } {
  return { problem: { field, message } };
}

const QUOTED_MAX_CHARS = 80;

function quoted(text: string): string {
  return JSON.stringify(text.length > QUOTED_MAX_CHARS ? `${text.slice(0, QUOTED_MAX_CHARS)}…` : text);
}

type ReadHash =
  | { kind: HashedKind; value: string }
  | { problem: { field: 'hash' | 'hash_key'; message: string } };

/** Reads a hash as an export writes it: `email:` or `user:`, then 64 hexadecimal digits. */
function readHash({ hash, hashKey }: { hash: string; hashKey: string }, keyId: string): ReadHash {
  const [, subject, value = ''] = /^(email|user):([0-9a-f]{64})$/.exec(hash) ?? [];
  if (subject === undefined)
    return refused('hash', 'A hash is email: or user:, followed by 64 hexadecimal digits in lower case');
  if (hashKey === '') return refused('hash_key', 'A row with a hash needs the hash_key from the export');
  if (hashKey !== keyId)
    return refused(
      'hash_key',
      `This hash was made with the key ${JSON.stringify(hashKey.slice(0, KEY_QUOTED_MAX_CHARS))}, and this project's key is "${keyId}". The address of an erased user can only be imported into the project of the installation that exported it, or into a restored copy`,
    );
  return { kind: subject === 'email' ? 'email_hash' : 'user_hash', value };
}

const KEY_QUOTED_MAX_CHARS = 40;

export function writeHash(kind: HashedKind, value: string): string {
  return `${kind === 'email_hash' ? 'email' : 'user'}:${value}`;
}

function refused(field: 'hash' | 'hash_key', message: string): ReadHash {
  return { problem: { field, message } };
}
