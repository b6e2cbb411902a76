import type { DnsReply } from '../../../platform/dns/resolver.ts';

/**
 * Result of checking whether an SPF record allows the relay. It is read as receivers do: in order, through includes, up to `all`, with at
 * most ten lookups. Addresses are not compared, because only an include of the relay's own record with a plus is accepted.
 *
 * `needs`: look up this name first.
 */
export type SpfResult =
  | { kind: 'passes' }
  | { kind: 'leaves_out' }
  | { kind: 'none' }
  | { kind: 'fault'; says: string }
  | { kind: 'failed'; code: string }
  | { kind: 'needs'; name: string };

export const SPF_LOOKUPS_MAX = 10;

const BEGIN = /^v=spf1(?: |$)/i;
const DIRECTIVE = /^([+\-~?]?)(all|include|a|mx|ptr|ip4|ip6|exists)(?:[:/](.*))?$/i;
const MODIFIER = /^([a-z][a-z0-9._-]*)=(.*)$/i;
const LOOKS_UP: ReadonlySet<string> = new Set(['include', 'a', 'mx', 'ptr', 'exists']);

type SpfContext = { expected: string; replyOf: (name: string) => DnsReply | undefined; lookups: number };
type Term = { qualifier: string; mechanism: string; target: string };

export function readSpf(
  name: string,
  expected: string,
  replyOf: (name: string) => DnsReply | undefined,
): SpfResult {
  return readAt(name, { expected: plain(expected), replyOf, lookups: 0 });
}

function readAt(name: string, context: SpfContext): SpfResult {
  const reply = context.replyOf(name);
  if (!reply) return { kind: 'needs', name };
  if (reply.kind === 'failed') return reply;
  const records = reply.kind === 'found' ? reply.values.filter((value) => BEGIN.test(value)) : [];
  const [record] = records;
  if (record === undefined) return { kind: 'none' };
  if (records.length > 1) {
    const says = `${records.length} SPF records were found at ${name}, which receivers treat as an error. Merge them into one`;
    return { kind: 'fault', says };
  }
  return readRecord(record, context);
}

function readRecord(record: string, context: SpfContext): SpfResult {
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
    const ended = readDirective(term, context);
    if (ended) return ended;
  }
  if (redirect === null) return { kind: 'leaves_out' };
  return readOther(redirect, context);
}

export function isSpf(value: string): boolean {
  return BEGIN.test(value);
}

/** Returns a record with one more include, before the terms that end it. */
export function withInclude(record: string, include: string): string {
  const terms = record.split(/ +/).filter(Boolean);
  const end = terms.findIndex((term) => /^(?:[+\-~?]?all|redirect=.*)$/i.test(term));
  return terms.toSpliced(end < 0 ? terms.length : end, 0, `include:${include}`).join(' ');
}

function readTerm(text: string): Term | null {
  const [, qualifier, mechanism, target] = DIRECTIVE.exec(text) ?? [];
  return mechanism === undefined
    ? null
    : { qualifier: qualifier || '+', mechanism: mechanism.toLowerCase(), target: plain(target ?? '') };
}

/** Returns the result of the whole record, or null to read the next term. */
function readDirective({ qualifier, mechanism, target }: Term, context: SpfContext): SpfResult | null {
  if (mechanism !== 'include') {
    if (LOOKS_UP.has(mechanism)) context.lookups += 1;
    return context.lookups > SPF_LOOKUPS_MAX ? TOO_MANY : null;
  }
  const found = readOther(target, context);
  switch (found.kind) {
    case 'passes':
      if (qualifier === '+') return found;
      return { kind: 'fault', says: `It rejects the relay, because of the ${qualifier} before include:` };
    case 'leaves_out':
      return null;
    case 'none':
      return { kind: 'fault', says: `It includes ${target}, which has no SPF record` };
    case 'fault':
    case 'failed':
    case 'needs':
      return found;
    default:
      return found satisfies never;
  }
}

function readOther(target: string, context: SpfContext): SpfResult {
  context.lookups += 1;
  if (context.lookups > SPF_LOOKUPS_MAX) return TOO_MANY;
  if (target === context.expected) return { kind: 'passes' };
  // A name with a macro is built from data of each email, so it is not a fixed name.
  return target.includes('%') ? { kind: 'leaves_out' } : readAt(target, context);
}

const TOO_MANY: SpfResult = {
  kind: 'fault',
  says: `It needs more than ${SPF_LOOKUPS_MAX} lookups, and receivers stop there`,
};

function plain(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}
