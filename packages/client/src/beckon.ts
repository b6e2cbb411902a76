import { randomUUID } from 'node:crypto';
import type { JsonValue } from '@beckon/contract';
import { Background } from './background.ts';
import { upload } from './bulk.ts';
import type { BulkOptions, BulkReport, EventsBulkOptions } from './bulk-types.ts';
import type { Source } from './chunks.ts';
import { BeckonError } from './errors.ts';
import type { AnyEvent, EventTypes, TrackedEvent } from './event-types.ts';
import type { BatchOptions, BeckonOptions, WriteOptions } from './options.ts';
import { placeOf } from './place.ts';
import { type Answer, type Place, send } from './transport.ts';

/** Somebody who uses your product. */
export type User = {
  /** Your own id of them, which never changes. */
  external_user_id: string;
  email?: string | undefined;
  /**
   * Whatever is known of them. `name`, `plan`, `signupDate`, `company` and `role` mean something; null takes a trait away, and
   * one that is left out stays as it was.
   */
  traits?: { [trait: string]: JsonValue | Date | undefined } | undefined;
};

export type Receipt =
  /** Stored for good. `replayed`: it had been already, under the same idempotency key. */
  | { state: 'accepted'; requestId: string | null; replayed: boolean }
  /** Waits for others, to leave with them. */
  | { state: 'queued' };

/** A name that has a type, or any other. */
export type EventName = keyof EventTypes | (string & {});

export type ClockState = { now: string };
export type ClockAdvance = { now: string; advanced_ms: number; drafts: number; emails: number };

const CLOSE_TIMEOUT_MS = 10_000;

/** Tells Beckon of users and of what they do. One for the whole process is enough. */
export class Beckon {
  readonly #place: Place;
  readonly #background: Background | null;

  constructor(options: BeckonOptions) {
    this.#place = placeOf(options);
    const { batching, retry } = options;
    // Nobody waits for what leaves in the background, so it has as many attempts as its time allows.
    const rule = { ...this.#place.retry, attempts: retry?.attempts ?? Number.POSITIVE_INFINITY };
    this.#background = batching ? new Background({ ...this.#place, retry: rule }, batching) : null;
  }

  get url(): string {
    return this.#place.url;
  }

  /** What may be shown of the key, so that people know which one it is. */
  get keyHint(): string {
    const { apiKey } = this.#place;
    return `${apiKey.slice(0, 8)}…${apiKey.slice(-4)}`;
  }

  readonly users = {
    /** Adds a user, or changes what is said of them. */
    upsert: (user: User, options?: WriteOptions): Promise<Receipt> =>
      this.#write('/api/v1/users', user, options),

    /** Any number of users: from an array, a generator, a database cursor. */
    bulk: <Item extends User>(source: Source<Item>, options: BulkOptions<Item> = {}): Promise<BulkReport> =>
      upload(this.#place, { path: '/api/v1/users/bulk', list: 'users', source }, options),
  };

  readonly events = {
    /** Any number of events; those that were sent before count once. With `suppressTriggers` they are history. */
    bulk: <Item extends AnyEvent>(
      source: Source<Item>,
      { suppressTriggers = false, ...options }: EventsBulkOptions<Item> = {},
    ): Promise<BulkReport> =>
      upload(this.#place, { path: '/api/v1/events/bulk', list: 'events', suppressTriggers, source }, options),
  };

  /** The virtual clock of a sandbox; with an `sk_test_` key only. */
  readonly clock = {
    now: async (): Promise<Date> => new Date((await this.#askClock<ClockState>()).now),

    /** As `7d` or `36h`. Resolves once everything that falls due on the way has been done. */
    advance: (duration: string): Promise<ClockAdvance> => this.#askClock<ClockAdvance>({ advance: duration }),
  };

  /** Something that a user did. Resolves once it is stored for good; with `batching` and no options, at once. */
  async track<Name extends EventName>(event: TrackedEvent<Name>, options?: WriteOptions): Promise<Receipt> {
    if (this.#background === null || options !== undefined) {
      return this.#write('/api/v1/events', event, options);
    }
    this.#background.add(event);
    return { state: 'queued' };
  }

  /** Up to 1,000 events, all of them or none. */
  async batch<Name extends EventName>(
    events: readonly TrackedEvent<Name>[],
    { suppressTriggers, ...options }: BatchOptions = {},
  ): Promise<Receipt> {
    const body = { events, ...(suppressTriggers === undefined ? {} : { suppressTriggers }) };
    return this.#write('/api/v1/events/batch', body, options);
  }

  /** Resolves once everything that was tracked in the background before has left, or has gone to `onError`. */
  async flush(): Promise<void> {
    await this.#background?.flush();
  }

  /** The same for all there is, for the last time; what has not left by then goes to `onError`. */
  async close({ timeoutMs = CLOSE_TIMEOUT_MS }: { timeoutMs?: number } = {}): Promise<void> {
    await this.#background?.close(timeoutMs);
  }

  async #write(path: string, body: object, options: WriteOptions = {}): Promise<Receipt> {
    const { idempotencyKey = randomUUID(), signal } = options;
    const answer = await send(this.#place, { path, body: JSON.stringify(body), idempotencyKey, signal });
    return { state: 'accepted', requestId: answer.requestId, replayed: answer.replayed };
  }

  /** Not tried again by itself: nobody knows whether the clock has moved. */
  async #askClock<State>(body?: object): Promise<State> {
    const call =
      body === undefined
        ? { method: 'GET' as const }
        : { method: 'POST' as const, body: JSON.stringify(body) };
    const answer = await send(this.#place, {
      ...call,
      path: '/api/sandbox/clock',
      retry: {
        attempts: body === undefined ? this.#place.retry.attempts : 1,
        totalMs: this.#place.retry.totalMs,
      },
    });
    return stateOf<State>(answer);
  }
}

function stateOf<State>({ body, requestId }: Answer): State {
  const { data } = body as { data: unknown };
  if (typeof data === 'object' && data !== null && 'now' in data) return data as State;
  throw new BeckonError('The answer is not that of a clock', { code: 'unexpected_answer', requestId });
}
