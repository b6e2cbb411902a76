import { randomUUID } from 'node:crypto';
import type { JsonValue } from '@beckon/contract';
import { Background } from './background.ts';
import { upload } from './bulk.ts';
import type { BulkOptions, BulkReport, EventsBulkOptions } from './bulk-types.ts';
import type { Source } from './chunks.ts';
import { BeckonError } from './errors.ts';
import type { AnyEvent, EventTypes, TrackedEvent } from './event-types.ts';
import type { BatchOptions, BeckonOptions, WriteOptions } from './options.ts';
import { resolveConfig } from './place.ts';
import { type ApiResponse, type ClientConfig, send } from './transport.ts';

/** A user of your product. */
export type User = {
  /** Your own id of the user, which never changes. */
  external_user_id: string;
  email?: string | undefined;
  /**
   * Any traits of the user. `name`, `plan`, `signupDate`, `company` and `role` have a meaning. Null removes a trait, and an omitted one
   * stays unchanged.
   */
  traits?: { [trait: string]: JsonValue | Date | undefined } | undefined;
};

export type Receipt =
  /** Stored durably. `replayed`: a request with the same idempotency key had stored it already. */
  | { state: 'accepted'; requestId: string | null; replayed: boolean }
  /** Waits in memory for the next batch. */
  | { state: 'queued' };

/** The name of a typed event, or any other name. */
export type EventName = keyof EventTypes | (string & {});

export type ClockState = { now: string };
export type ClockAdvance = { now: string; advanced_ms: number; drafts: number; emails: number };

const CLOSE_TIMEOUT_MS = 10_000;

/** The client: sends users and events to Beckon. One instance per process is enough. */
export class Beckon {
  readonly #config: ClientConfig;
  readonly #background: Background | null;

  constructor(options: BeckonOptions) {
    this.#config = resolveConfig(options);
    const { batching, retry } = options;
    // No caller waits for background requests, so the number of attempts is limited only by `totalMs`.
    const rule = { ...this.#config.retry, attempts: retry?.attempts ?? Number.POSITIVE_INFINITY };
    this.#background = batching ? new Background({ ...this.#config, retry: rule }, batching) : null;
  }

  get url(): string {
    return this.#config.url;
  }

  /** The part of the key that is safe to display. */
  get keyHint(): string {
    const { apiKey } = this.#config;
    return `${apiKey.slice(0, 8)}…${apiKey.slice(-4)}`;
  }

  readonly users = {
    /** Adds or updates a user. */
    upsert: (user: User, options?: WriteOptions): Promise<Receipt> =>
      this.#write('/api/v1/users', user, options),

    /** Uploads any number of users, from an array, a generator or a database cursor. */
    bulk: <Item extends User>(source: Source<Item>, options: BulkOptions<Item> = {}): Promise<BulkReport> =>
      upload(this.#config, { path: '/api/v1/users/bulk', list: 'users', source }, options),
  };

  readonly events = {
    /** Uploads any number of events; repeated ones count once. With `suppressTriggers` they are history. */
    bulk: <Item extends AnyEvent>(
      source: Source<Item>,
      { suppressTriggers = false, ...options }: EventsBulkOptions<Item> = {},
    ): Promise<BulkReport> =>
      upload(
        this.#config,
        { path: '/api/v1/events/bulk', list: 'events', suppressTriggers, source },
        options,
      ),
  };

  /** The test clock of a sandbox; requires an `sk_test_` key. */
  readonly clock = {
    now: async (): Promise<Date> => new Date((await this.#askClock<ClockState>()).now),

    /** Takes a duration such as `7d` or `36h`. Resolves once everything that becomes due in that time is done. */
    advance: (duration: string): Promise<ClockAdvance> => this.#askClock<ClockAdvance>({ advance: duration }),
  };

  /** Tracks an event of a user. Resolves once it is stored durably; with `batching` and no options, immediately. */
  async track<Name extends EventName>(event: TrackedEvent<Name>, options?: WriteOptions): Promise<Receipt> {
    if (this.#background === null || options !== undefined) {
      return this.#write('/api/v1/events', event, options);
    }
    this.#background.add(event);
    return { state: 'queued' };
  }

  /** Sends up to 1,000 events. The server accepts all of them or none. */
  async batch<Name extends EventName>(
    events: readonly TrackedEvent<Name>[],
    { suppressTriggers, ...options }: BatchOptions = {},
  ): Promise<Receipt> {
    const body = { events, ...(suppressTriggers === undefined ? {} : { suppressTriggers }) };
    return this.#write('/api/v1/events/batch', body, options);
  }

  /** Resolves once all events tracked in the background before this call were sent, or went to `onError`. */
  async flush(): Promise<void> {
    await this.#background?.flush();
  }

  /** Sends all queued events and stops. Events that were not sent within the timeout go to `onError`. */
  async close({ timeoutMs = CLOSE_TIMEOUT_MS }: { timeoutMs?: number } = {}): Promise<void> {
    await this.#background?.close(timeoutMs);
  }

  async #write(path: string, body: object, options: WriteOptions = {}): Promise<Receipt> {
    const { idempotencyKey = randomUUID(), signal } = options;
    const response = await send(this.#config, { path, body: JSON.stringify(body), idempotencyKey, signal });
    return { state: 'accepted', requestId: response.requestId, replayed: response.replayed };
  }

  /** Does not retry an advance: after a failure it is unknown whether the clock has moved. */
  async #askClock<State>(body?: object): Promise<State> {
    const call =
      body === undefined
        ? { method: 'GET' as const }
        : { method: 'POST' as const, body: JSON.stringify(body) };
    const response = await send(this.#config, {
      ...call,
      path: '/api/sandbox/clock',
      retry: {
        attempts: body === undefined ? this.#config.retry.attempts : 1,
        totalMs: this.#config.retry.totalMs,
      },
    });
    return stateOf<State>(response);
  }
}

function stateOf<State>({ body, requestId }: ApiResponse): State {
  const { data } = body as { data: unknown };
  if (typeof data === 'object' && data !== null && 'now' in data) return data as State;
  throw new BeckonError('The answer is not that of a clock', { code: 'unexpected_answer', requestId });
}
