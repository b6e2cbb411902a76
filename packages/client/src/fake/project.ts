import { createHash } from 'node:crypto';
import type { BulkError, ErrorEntry, EventInput, JsonObject, UserInput } from '@beckon/contract';
import { BULK_INGEST_MAX_RECORDS, FAULT_MESSAGES, type FaultCode } from '@beckon/contract';
import { eventProblems, isObject, type Problem, userProblems } from './validate.ts';

export type FakeUser = { external_user_id: string; email: string | null; traits: JsonObject };
export type FakeEvent = EventInput & { properties: JsonObject; suppressed: boolean };
export type Reply = { status: number; body: object; replayed?: boolean };
type WriteRequest = { path: string; body: unknown; idempotencyKey: string | undefined };
type Fields = Record<string, unknown>;

/** Applies records as a project would, immediately and in memory. */
export class FakeProject {
  readonly users = new Map<string, FakeUser>();
  readonly events: FakeEvent[] = [];
  readonly #replies = new Map<string, { fingerprint: string; reply: Reply }>();
  readonly #seen = new Set<string>();

  clear(): void {
    this.users.clear();
    this.events.length = 0;
    this.#replies.clear();
    this.#seen.clear();
  }

  /** Returns null for an unknown path. */
  take({ path, body, idempotencyKey }: WriteRequest): Reply | null {
    const act = this.#acts[path];
    if (act === undefined) return null;
    if (!isObject(body)) return invalid(path, [{ message: 'The body must be a JSON object', field: 'body' }]);
    const fingerprint = digest(path, path.split('/').length === 4 ? sorted(body) : body);
    const earlier = idempotencyKey === undefined ? undefined : this.#replies.get(idempotencyKey);
    if (earlier !== undefined) {
      if (earlier.fingerprint !== fingerprint) return refusal(422, 'idempotency_key_reuse');
      return { ...earlier.reply, replayed: true };
    }
    const reply = act(body);
    if (idempotencyKey !== undefined && reply.status < 300)
      this.#replies.set(idempotencyKey, { fingerprint, reply });
    return reply;
  }

  readonly #acts: Record<string, (body: Fields) => Reply> = {
    '/api/v1/users': (body) => this.#single(body, userProblems, (user) => this.#keepUser(user as UserInput)),
    '/api/v1/events': (body) =>
      this.#single(body, eventProblems, (event) => this.#keepEvent(event as EventInput, {})),
    '/api/v1/users/bulk': (body) =>
      bulk(body, 'users', { check: userProblems, keep: (user) => this.#keepUser(user as UserInput) }),
    '/api/v1/events/bulk': (body) => {
      const options = { suppressed: body['suppressTriggers'] === true, bulk: true };
      return bulk(body, 'events', {
        check: eventProblems,
        keep: (event) => this.#keepEvent(event as EventInput, options),
      });
    },
    '/api/v1/events/batch': (body) => this.#batch(body),
  };

  #single(body: Fields, check: (record: unknown) => Problem[], keep: (record: unknown) => void): Reply {
    const problems = check(body);
    if (problems.length > 0) return invalid('', problems);
    keep(body);
    return { status: 202, body: { data: { accepted: true } } };
  }

  #batch(body: Fields): Reply {
    const listed = listProblems(body, 'events');
    if (listed.length > 0) return invalid('', listed);
    const events = body['events'] as unknown[];
    const problems = events.flatMap((event, index) =>
      eventProblems(event).map(({ message, field }) => {
        const fieldPath = field === undefined ? `events.${index}` : `events.${index}.${field}`;
        return { message: message.replace(field ?? 'The record', fieldPath), field: fieldPath };
      }),
    );
    if (problems.length > 0) return invalid('', problems);
    const suppressed = body['suppressTriggers'] === true;
    for (const event of events) this.#keepEvent(event as EventInput, { suppressed });
    return { status: 202, body: { data: { accepted: true }, meta: { received: events.length } } };
  }

  #keepUser({ external_user_id, email, traits = {} }: UserInput): void {
    const existing = this.users.get(external_user_id) ?? { external_user_id, email: null, traits: {} };
    const merged = Object.entries({ ...existing.traits, ...traits }).filter(([, value]) => value !== null);
    const user = { external_user_id, email: email ?? existing.email, traits: Object.fromEntries(merged) };
    this.users.set(external_user_id, user);
  }

  #keepEvent(event: EventInput, options: { suppressed?: boolean; bulk?: boolean }): void {
    const { external_user_id, name, properties = {}, occurred_at, message_id } = event;
    const at = occurred_at === undefined ? null : new Date(occurred_at).toISOString();
    const canDeduplicate = message_id !== undefined || at !== null || options.bulk;
    const content = sorted({ external_user_id, name, at, properties });
    const copy = message_id === undefined ? digest('content', content) : digest('id', message_id);
    if (canDeduplicate && this.#seen.has(copy)) return;
    if (canDeduplicate) this.#seen.add(copy);
    if (!this.users.has(external_user_id)) this.#keepUser({ external_user_id });
    this.events.push({ ...event, properties, suppressed: options.suppressed ?? false });
  }
}

export function refusal(status: number, code: FaultCode): Reply {
  return { status, body: { errors: [{ code, message: FAULT_MESSAGES[code] }] } };
}

function invalid(path: string, problems: readonly Problem[]): Reply {
  const errors: ErrorEntry[] = problems
    .slice(0, 20)
    .map(({ message, field = 'body' }) => ({ code: 'validation_failed', message, field }));
  return { status: path.endsWith('/bulk') ? 400 : 422, body: { errors } };
}

type Many = { check: (record: unknown) => Problem[]; keep: (record: unknown) => void };

function bulk(body: Fields, list: 'users' | 'events', { check, keep }: Many): Reply {
  const listed = listProblems(body, list);
  if (listed.length > 0) return invalid('/bulk', listed);
  const records = body[list] as unknown[];
  const errors: BulkError[] = [];
  for (const [index, record] of records.entries()) {
    const [first] = check(record);
    if (first === undefined) keep(record);
    else errors.push({ index, code: 'validation', ...first });
  }
  const data = { accepted: records.length - errors.length, rejected: errors.length, errors };
  return { status: 200, body: { data, meta: { received: records.length } } };
}

function listProblems(body: Fields, field: 'users' | 'events'): Problem[] {
  const items = body[field];
  const suppress = body['suppressTriggers'];
  if (items === undefined) return [{ message: `${field} is required`, field }];
  if (!Array.isArray(items)) return [{ message: `${field} must be an array`, field }];
  if (items.length === 0) return [{ message: `${field} must have at least one record`, field }];
  if (items.length > BULK_INGEST_MAX_RECORDS)
    return [{ message: `${field} must not have more than ${BULK_INGEST_MAX_RECORDS} records`, field }];
  if (suppress === undefined || typeof suppress === 'boolean') return [];
  return [{ message: 'suppressTriggers must be a boolean', field: 'suppressTriggers' }];
}

function digest(what: string, value: unknown): string {
  return createHash('sha256').update(what).update(JSON.stringify(value)).digest('base64');
}

/** Sorts keys, so that equal content has equal text whatever the order of its keys. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .toSorted()
      .map((key) => [key, sorted(value[key])]),
  );
}
