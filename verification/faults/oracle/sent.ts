import { createHash } from 'node:crypto';
import { canonicalJson } from '../../../packages/server/src/platform/text/canonical-json.ts';
import { readIdempotencyKey } from '../../../packages/server/src/modules/ingest/idempotency/key.ts';
import type { Answer, OnceRow, Request } from './facts.ts';

/** One record of a request, in the form in which its effect can be checked. */
export type Sent =
  | { kind: 'user'; user: string; traits: Record<string, unknown>; email: string | undefined }
  | {
      kind: 'event';
      user: string;
      name: string;
      /** A short hash of its content. Two copies have the same. */
      identity: string;
      /** The key that makes two events copies. Null if each one sent counts separately. */
      copyOf: string | null;
      suppressed: boolean;
    };

/** The result of a request, by its responses or, without one, by whether its Idempotency-Key was used. */
export type Fate = {
  request: Request;
  /** The attempts that were answered 2xx, in the order of their responses. */
  taken: Answer[];
  once: OnceRow | null;
  isAccepted: boolean;
  /** The accepted records, or all records of a request that was not accepted. */
  sent: Sent[];
  /** The request was committed within this span. `until` is Infinity if no response came. */
  from: number;
  until: number;
};

export const isTaken = ({ status }: Answer): boolean => status >= 200 && status < 300;

export function fatesOf(requests: Request[], once: OnceRow[]): Fate[] {
  const rows = new Map(once.map((row) => [`${row.project} ${row.key}`, row]));
  return requests.map((request) => {
    const key = readIdempotencyKey(request.idempotencyKey)?.digest ?? '';
    return fateOf(request, rows.get(`${request.project} ${key}`));
  });
}

function fateOf(request: Request, row: OnceRow | undefined): Fate {
  const answers = request.tries.flatMap(({ answer }) => answer ?? []).toSorted((a, b) => a.at - b.at);
  const taken = answers.filter(isTaken);
  // A clash uses the key of another request, and a request with a revoked API key must not claim one.
  const owned = request.intent === 'normal' || request.intent === 'retry' ? (row ?? null) : null;
  const isAccepted = taken.length > 0 || owned !== null;
  const reply = taken[0]?.body ?? owned?.body ?? null;
  const refused = isAccepted ? refusedIn(reply) : new Set<number>();
  return {
    request,
    taken,
    once: owned,
    isAccepted,
    sent: recordsOf(request).filter((_, index) => !refused.has(index)),
    from: Math.min(...request.tries.map(({ at }) => at)),
    until: taken[0]?.at ?? Infinity,
  };
}

type Reply = {
  data?: { accepted?: unknown; rejected?: unknown; errors?: { index?: unknown }[] };
  meta?: { received?: unknown };
};

export function readReply(body: string | null): Reply | null {
  try {
    return JSON.parse(body ?? '') as Reply;
  } catch {
    return null;
  }
}

function refusedIn(body: string | null): Set<number> {
  return new Set((readReply(body)?.data?.errors ?? []).map(({ index }) => Number(index)));
}

type Body = {
  users?: UserRecord[];
  events?: EventRecord[];
  suppressTriggers?: boolean;
} & UserRecord &
  EventRecord;
type UserRecord = { external_user_id: string; traits?: Record<string, unknown>; email?: string };
type EventRecord = {
  external_user_id: string;
  name: string;
  properties?: Record<string, unknown>;
  occurred_at?: string;
  message_id?: string;
};

function recordsOf({ path, body }: Pick<Request, 'path' | 'body'>): Sent[] {
  const read = JSON.parse(body) as Body;
  if (path.includes('/users')) return (read.users ?? [read]).map(userOf);
  const suppressed = read.suppressTriggers === true;
  const isBulk = path.endsWith('/bulk');
  return (read.events ?? [read]).map((event) => eventOf(event, { suppressed, isBulk }));
}

function userOf({ external_user_id: user, traits = {}, email }: UserRecord): Sent {
  return { kind: 'user', user, traits, email };
}

function eventOf(event: EventRecord, { suppressed, isBulk }: { suppressed: boolean; isBulk: boolean }): Sent {
  const { external_user_id: user, name, properties = {}, message_id, occurred_at } = event;
  const identity = identityOf(user, name, properties);
  return { kind: 'event', user, name, identity, copyOf: copyOf(), suppressed };

  /**
   * Section B.3.4 of the contract: events are deduplicated by message id or by their whole content. A live event without a time may happen
   * twice.
   */
  function copyOf(): string | null {
    if (message_id !== undefined) return `id ${message_id}`;
    if (occurred_at !== undefined) return `at ${Date.parse(occurred_at)} ${identity}`;
    return isBulk ? `said ${identity}` : null;
  }
}

/** A run has hundreds of thousands of events: this many characters keep them apart. */
export function identityOf(user: string, name: string, properties: unknown): string {
  return createHash('sha1')
    .update(JSON.stringify([user, name]) + canonicalJson(properties))
    .digest('base64')
    .slice(0, 20);
}

/** Returns the final values of one request per user: of several records, each trait as the last one leaves it. */
export function lastWords(
  sent: Sent[],
): Map<string, { traits: Map<string, unknown>; email: string | undefined }> {
  const words = new Map<string, { traits: Map<string, unknown>; email: string | undefined }>();
  for (const one of sent) {
    if (one.kind !== 'user') continue;
    const word = words.get(one.user) ?? { traits: new Map<string, unknown>(), email: undefined };
    words.set(one.user, word);
    for (const [trait, value] of Object.entries(one.traits)) word.traits.set(trait, value);
    word.email = one.email ?? word.email;
  }
  return words;
}
