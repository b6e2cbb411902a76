import { createHash } from 'node:crypto';
import { canonicalJson } from '../../../packages/server/src/platform/text/canonical-json.ts';
import { readIdempotencyKey } from '../../../packages/server/src/modules/ingest/idempotency/key.ts';
import type { Answer, IdempotencyRow, Request } from './facts.ts';

/** One record of a request, in the form in which its effect can be checked. */
export type SentRecord =
  | { kind: 'user'; user: string; traits: Record<string, unknown>; email: string | undefined }
  | {
      kind: 'event';
      user: string;
      name: string;
      /** A short hash of its content. Two copies have the same. */
      identity: string;
      /** The key that makes two events copies. Null if each one sent counts separately. */
      duplicateKey: string | null;
      suppressed: boolean;
    };

/** The result of a request, by its responses or, without one, by whether its Idempotency-Key was used. */
export type RequestResult = {
  request: Request;
  /** The attempts that were answered 2xx, in the order of their responses. */
  acceptances: Answer[];
  idempotencyRow: IdempotencyRow | null;
  isAccepted: boolean;
  /** The accepted records, or all records of a request that was not accepted. */
  records: SentRecord[];
  /** The request was committed within this span. `until` is Infinity if no response came. */
  from: number;
  until: number;
};

export const isAcceptance = ({ status }: Answer): boolean => status >= 200 && status < 300;

export function resultsOf(requests: Request[], rows: IdempotencyRow[]): RequestResult[] {
  const rowsByKey = new Map(rows.map((row) => [`${row.project} ${row.key}`, row]));
  return requests.map((request) => {
    const key = readIdempotencyKey(request.idempotencyKey)?.digest ?? '';
    return resultOf(request, rowsByKey.get(`${request.project} ${key}`));
  });
}

function resultOf(request: Request, row: IdempotencyRow | undefined): RequestResult {
  const answers = request.attempts.flatMap(({ answer }) => answer ?? []).toSorted((a, b) => a.at - b.at);
  const acceptances = answers.filter(isAcceptance);
  // A clash uses the key of another request, and a request with a revoked API key must not claim one.
  const ownRow = request.intent === 'normal' || request.intent === 'retry' ? (row ?? null) : null;
  const isAccepted = acceptances.length > 0 || ownRow !== null;
  const reply = acceptances[0]?.body ?? ownRow?.body ?? null;
  const rejected = isAccepted ? rejectedIndexes(reply) : new Set<number>();
  return {
    request,
    acceptances,
    idempotencyRow: ownRow,
    isAccepted,
    records: recordsOf(request).filter((_, index) => !rejected.has(index)),
    from: Math.min(...request.attempts.map(({ at }) => at)),
    until: acceptances[0]?.at ?? Infinity,
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

function rejectedIndexes(body: string | null): Set<number> {
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

function recordsOf({ path, body }: Pick<Request, 'path' | 'body'>): SentRecord[] {
  const parsed = JSON.parse(body) as Body;
  if (path.includes('/users')) return (parsed.users ?? [parsed]).map(userOf);
  const suppressed = parsed.suppressTriggers === true;
  const isBulk = path.endsWith('/bulk');
  return (parsed.events ?? [parsed]).map((event) => eventOf(event, { suppressed, isBulk }));
}

function userOf({ external_user_id: user, traits = {}, email }: UserRecord): SentRecord {
  return { kind: 'user', user, traits, email };
}

function eventOf(
  event: EventRecord,
  { suppressed, isBulk }: { suppressed: boolean; isBulk: boolean },
): SentRecord {
  const { external_user_id: user, name, properties = {}, message_id, occurred_at } = event;
  const identity = identityOf(user, name, properties);
  return { kind: 'event', user, name, identity, duplicateKey: duplicateKey(), suppressed };

  /**
   * Section B.3.4 of the contract: events are deduplicated by message id or by their whole content. A live event without a time may happen
   * twice.
   */
  function duplicateKey(): string | null {
    if (message_id !== undefined) return `id ${message_id}`;
    if (occurred_at !== undefined) return `at ${Date.parse(occurred_at)} ${identity}`;
    return isBulk ? `content ${identity}` : null;
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
export function lastValues(
  records: SentRecord[],
): Map<string, { traits: Map<string, unknown>; email: string | undefined }> {
  const byUser = new Map<string, { traits: Map<string, unknown>; email: string | undefined }>();
  for (const record of records) {
    if (record.kind !== 'user') continue;
    const values = byUser.get(record.user) ?? { traits: new Map<string, unknown>(), email: undefined };
    byUser.set(record.user, values);
    for (const [trait, value] of Object.entries(record.traits)) values.traits.set(trait, value);
    values.email = record.email ?? values.email;
  }
  return byUser;
}
