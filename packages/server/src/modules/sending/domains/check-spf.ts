import type { DnsAnswer } from '../../../platform/dns/resolver.ts';

/**
 * Result of checking whether an SPF record allows the relay. It is read as receivers do: in order, through includes, up to `all`, with at
 * most ten lookups. Addresses are not compared, because only an include of the relay's own record with a plus is accepted.
 *
 * `needs`: look up this name first.
 */
export type SpfReading =
  | { kind: 'passes' }
  | { kind: 'leaves_out' }
  | { kind: 'none' }
  | { kind: 'fault'; says: string }
  | { kind: 'trouble'; code: string }
  | { kind: 'needs'; name: string };

export const SPF_LOOKUPS_MAX = 10;

const BEGIN = /^v=spf1(?: |$)/i;
const DIRECTIVE = /^([+\-~?]?)(all|include|a|mx|ptr|ip4|ip6|exists)(?:[:/](.*))?$/i;
const MODIFIER = /^([a-z][a-z0-9._-]*)=(.*)$/i;
const LOOKS_UP: ReadonlySet<string> = new Set(['include', 'a', 'mx', 'ptr', 'exists']);

type Reading = { wanted: string; answerOf: (name: string) => DnsAnswer | undefined; lookups: number };
type Term = { qualifier: string; mechanism: string; target: string };

export function readSpf(
  name: string,
  wanted: string,
  answerOf: (name: string) => DnsAnswer | undefined,
): SpfReading {
  return readAt(name, { wanted: plain(wanted), answerOf, lookups: 0 });
}

function readAt(name: string, reading: Reading): SpfReading {
  const answer = reading.answerOf(name);
  if (!answer) return { kind: 'needs', name };
  if (answer.kind === 'trouble') return answer;
  const records = answer.kind === 'found' ? answer.values.filter((value) => BEGIN.test(value)) : [];
  const [record] = records;
  if (record === undefined) return { kind: 'none' };
  if (records.length > 1) {
    const says = `${records.length} SPF records were found at ${name}, which receivers treat as an error. Merge them into one`;
    return { kind: 'fault', says };
  }
  return readRecord(record, reading);
}

function readRecord(record: string, reading: Reading): SpfReading {
  let redirect: string | null = null;
  for (const text of record.split(/ +/).slice(1).filter(Boolean)) {
    const modifier = MODIFIER.exec(text);
    if (modifier) {
      if (modifier[1]?.toLowerCase() === 'redirect') redirect = plain(modifier[2] ?? '');
      continue;
    }
    const term = readTerm(text);
    if (!term) return { kind: 'fault', says: `SPF has no term ${JSON.stringify(text.slice(0, 60))}` };
    // Terms after `all` are never read, and no redirect is followed.
    if (term.mechanism === 'all') return { kind: 'leaves_out' };
    const ended = readDirective(term, reading);
    if (ended) return ended;
  }
  if (redirect === null) return { kind: 'leaves_out' };
  return readOther(redirect, reading);
}

function readTerm(text: string): Term | null {
  const [, qualifier, mechanism, target] = DIRECTIVE.exec(text) ?? [];
  return mechanism === undefined
    ? null
    : { qualifier: qualifier || '+', mechanism: mechanism.toLowerCase(), target: plain(target ?? '') };
}

/** Returns the result of the whole record, or null to read the next term. */
function readDirective({ qualifier, mechanism, target }: Term, reading: Reading): SpfReading | null {
  if (mechanism !== 'include') {
    if (LOOKS_UP.has(mechanism)) reading.lookups += 1;
    return reading.lookups > SPF_LOOKUPS_MAX ? TOO_MANY : null;
  }
  const found = readOther(target, reading);
  switch (found.kind) {
    case 'passes':
      if (qualifier === '+') return found;
      return { kind: 'fault', says: `It rejects the relay, because of the ${qualifier} before include:` };
    case 'leaves_out':
      return null;
    case 'none':
      return { kind: 'fault', says: `It includes ${target}, which has no SPF record` };
    case 'fault':
    case 'trouble':
    case 'needs':
      return found;
    default:
      return found satisfies never;
  }
}

function readOther(target: string, reading: Reading): SpfReading {
  reading.lookups += 1;
  if (reading.lookups > SPF_LOOKUPS_MAX) return TOO_MANY;
  if (target === reading.wanted) return { kind: 'passes' };
  // A name with a macro is built from data of each email, so it is not a fixed name.
  return target.includes('%') ? { kind: 'leaves_out' } : readAt(target, reading);
}

const TOO_MANY: SpfReading = {
  kind: 'fault',
  says: `It needs more than ${SPF_LOOKUPS_MAX} lookups, and receivers stop there`,
};

function plain(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}
