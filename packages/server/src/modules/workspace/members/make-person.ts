import { randomUUID } from 'node:crypto';
import { Fault } from '../../../platform/fault.ts';
import { isEmail } from '../../../platform/records/email.ts';
import { PASSWORD_MAX_CHARS, PASSWORD_MIN_CHARS } from './team.ts';
import { upsertPassword, upsertUser } from './store.ts';
import type { Tx } from '../../../platform/db/statements.ts';

export type NewAccount = { name: string; email: string; passwordHash: string };

/** Creates an account that can sign in from now on. */
export async function upsertAccount(
  tx: Tx,
  { name, email, passwordHash }: NewAccount,
  at: Date,
): Promise<string> {
  const userId = await upsertUser(tx, { id: randomUUID(), name, email, at });
  await upsertPassword(tx, { id: randomUUID(), userId, hash: passwordHash, at });
  return userId;
}

/** `field`: the name of the field in the form. */
export function checkPassword(password: string, field = 'password'): void {
  const { length } = password;
  if (length < PASSWORD_MIN_CHARS)
    throw refused(field, `must have at least ${PASSWORD_MIN_CHARS} characters`);
  if (length > PASSWORD_MAX_CHARS) throw refused(field, `must have at most ${PASSWORD_MAX_CHARS} characters`);
  if (isCommon(password)) throw refused(field, 'is easy to guess. Use several unrelated words');
}

/** The words of the most frequent passwords in published leaks. Digits and signs around them do not make them better. */
const COMMON = new Set(
  (
    'password passwort passw0rd p@ssw0rd p@ssword qwerty qwertyuiop qwertyuiopasdf asdfghjkl letmein welcome iloveyou ' +
    'admin administrator changeme dragon monkey football baseball sunshine princess superman trustno secret default login hello beckon abc'
  ).split(' '),
);

/** One of these words, once or repeated, with digits and signs around it; or digits and signs alone; or one or two characters repeated. */
function isCommon(password: string): boolean {
  const word = password.toLowerCase().replaceAll(/^\P{L}+|\P{L}+$/gu, '');
  if (word === '' || new Set(password).size <= 2) return true;
  return [...COMMON].some((common) => common.repeat(word.length / common.length) === word);
}

/** Returns the address in lower case, as it is stored and compared. */
export function readEmail(text: string): string {
  const email = text.trim().toLowerCase();
  if (!isEmail(email)) throw refused('email', `is not an email address: ${JSON.stringify(text.trim())}`);
  return email;
}

const NAME_MAX_CHARS = 100;

/** `field`: the name of the field in the form. */
export function readName(text: string, field = 'name'): string {
  const name = text.trim();
  if (name === '' || name.length > NAME_MAX_CHARS)
    throw refused(field, `must have 1 to ${NAME_MAX_CHARS} characters`);
  if (/[\p{Cc}\p{Cs}]/u.test(name)) throw refused(field, 'contains an invisible character');
  return name;
}

function refused(field: string, words: string): Fault {
  return new Fault('validation_failed', { details: [{ message: `${field} ${words}`, field }] });
}
