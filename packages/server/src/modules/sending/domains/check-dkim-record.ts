import { readTags } from './tags.ts';
import type { Judged } from './findings.ts';

/** Checks that a record contains our key after decoding, whatever other tags it has and in whatever order. */
export function judgeDkim(wanted: string, values: string[]): Judged {
  const [value] = values;
  if (value === undefined) return { verdict: 'missing', says: 'No record was found' };
  if (values.length > 1)
    return wrong(`${values.length} records were found, and receivers may use any of them. Keep only one`);
  if (value.startsWith('"')) return wrong('The value was entered with quotes, which are now part of it');
  const { values: tags, first, isClean } = readTags(value.replaceAll('\\;', ';'));
  if (value.includes('\\;'))
    return wrong('The value has backslashes before its semicolons. Enter it without them');
  if (!isClean)
    return wrong('The value is not a DKIM record. Its parts must be name=value, with each name once');
  const version = tags.get('v');
  if (version !== undefined && (version !== 'DKIM1' || first !== 'v'))
    return wrong('A DKIM record begins with v=DKIM1');
  return judgeKey(wanted, tags);
}

function judgeKey(wanted: string, tags: ReadonlyMap<string, string>): Judged {
  const key = tags.get('p');
  if (key === undefined) return wrong('It has no key: p= is missing');
  if (key === '') return wrong('Its p= is empty, which revokes the key');
  if ((tags.get('k') ?? 'rsa') !== 'rsa') return wrong('Its k= must be rsa');
  if (!allows(tags.get('h'), ['sha256']))
    return wrong('Its h= does not include sha256, which signs the emails');
  if (!allows(tags.get('s'), ['*', 'email'])) return wrong('Its s= excludes email');
  const ours = readTags(wanted).values.get('p') ?? '';
  if (!isSameKey(key, ours))
    return wrong('It contains another key, or only part of the key. Copy the complete value again');
  const isTest = (tags.get('t') ?? '').split(':').some((flag) => flag.trim() === 'y');
  if (isTest) return { ...OK, says: 'The record is correct, but t=y marks it as a test', warns: true };
  return OK;
}

const OK: Judged = { verdict: 'ok', says: 'The record is correct' };

function wrong(says: string): Judged {
  return { verdict: 'wrong', says };
}

function allows(list: string | undefined, wanted: string[]): boolean {
  return list === undefined || list.split(':').some((one) => wanted.includes(one.trim().toLowerCase()));
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

function isSameKey(text: string, wanted: string): boolean {
  const compact = text.replaceAll(/\s/g, '');
  return BASE64.test(compact) && Buffer.from(compact, 'base64').equals(Buffer.from(wanted, 'base64'));
}
