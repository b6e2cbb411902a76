import { randomUUID } from 'node:crypto';
import { BATCH_MAX_EVENTS, MANY_BODY_MAX_BYTES, REQUEST_MAX_VALUES } from '@beckon/contract';
import { mostValues } from './chunks.ts';
import { BeckonError, ValidationError } from './errors.ts';
import type { TrackedEvent } from './event-types.ts';
import type { BatchingOptions } from './options.ts';
import { atLeast } from './place.ts';
import { type ClientConfig, send } from './transport.ts';

const MAX_RECORDS = 100;
const MAX_WAIT_MS = 1_000;
const MAX_QUEUED = 10_000;
const AROUND_BYTES = 1_024;

/** The event as it was tracked: later changes are not sent. */
type Queued = { event: TrackedEvent; text: string; bytes: number };

/**
 * Sends events in the background, in the order in which they were tracked: one request at a time, with many events each. Events that cannot
 * be sent go to `onError` and do not block those behind them. Queued events are sent before a normal exit. A process that ends by a signal
 * has to close the client first.
 */
export class Background {
  readonly #config: ClientConfig;
  readonly #options: Required<BatchingOptions>;
  readonly #queue: Queued[] = [];
  readonly #stopped = new AbortController();
  readonly #beforeExit = (): void => void this.flush();
  #timer: NodeJS.Timeout | undefined;
  /** The number of events that were ever queued, and how many of them were sent or reported. The order is the same. */
  #added = 0;
  #gone = 0;
  #sending: Promise<void> | null = null;

  constructor(config: ClientConfig, options: BatchingOptions) {
    const { maxRecords = MAX_RECORDS, maxWaitMs = MAX_WAIT_MS, maxQueued = MAX_QUEUED, onError } = options;
    atLeast('batching.maxRecords', maxRecords, 1);
    atLeast('batching.maxWaitMs', maxWaitMs, 0);
    atLeast('batching.maxQueued', maxQueued, 1);
    if (typeof onError !== 'function') throw new TypeError('Beckon: batching.onError is a function');
    this.#config = config;
    this.#options = { maxRecords: Math.min(maxRecords, BATCH_MAX_EVENTS), maxWaitMs, maxQueued, onError };
    process.on('beforeExit', this.#beforeExit);
  }

  add(event: TrackedEvent): void {
    if (this.#stopped.signal.aborted) return this.#fail(closedError(), [event]);
    if (this.#queue.length >= this.#options.maxQueued) {
      const message = `${this.#options.maxQueued} events wait already; this one was dropped`;
      return this.#fail(new BeckonError(message, { code: 'queue_overflow' }), [event]);
    }
    try {
      const text = JSON.stringify(event);
      this.#queue.push({ event: JSON.parse(text) as TrackedEvent, text, bytes: Buffer.byteLength(text) });
    } catch (cause) {
      const message = `The event cannot be written as JSON: ${cause instanceof Error ? cause.message : String(cause)}`;
      return this.#fail(new ValidationError(message, { code: 'validation_failed', cause }), [event]);
    }
    this.#added += 1;
    this.#arm();
  }

  /** Resolves once all events that were tracked before this call are gone. Later events wait for their own batch. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const until = this.#added;
    while (this.#gone < until) await (this.#sending ??= this.#sendNext());
    this.#arm();
  }

  async close(timeoutMs: number): Promise<void> {
    process.off('beforeExit', this.#beforeExit);
    const timer = setTimeout(() => this.#stopped.abort(closedError()), timeoutMs);
    while (this.#gone < this.#added) await this.flush();
    clearTimeout(timer);
    this.#stopped.abort(closedError());
  }

  /** Does nothing while a batch is being sent, because `flush` calls this after it. */
  #arm(): void {
    if (this.#sending !== null || this.#queue.length === 0) return;
    if (this.#queue.length >= this.#options.maxRecords) void this.flush();
    else this.#timer ??= setTimeout(() => void this.flush(), this.#options.maxWaitMs).unref();
  }

  async #sendNext(): Promise<void> {
    const batch = this.#cut();
    await this.#sendBatch(batch).finally(() => {
      this.#gone += batch.length;
      this.#sending = null;
    });
  }

  #cut(): Queued[] {
    let [bytes, values] = [AROUND_BYTES, 0];
    const most = Math.min(this.#queue.length, this.#options.maxRecords);
    for (let count = 0; count < most; count += 1) {
      const queued = this.#queue[count];
      bytes += (queued?.bytes ?? 0) + 1;
      values += mostValues(queued?.text ?? '');
      if (bytes > MANY_BODY_MAX_BYTES || values > REQUEST_MAX_VALUES)
        return this.#queue.splice(0, Math.max(1, count));
    }
    return this.#queue.splice(0, most);
  }

  async #sendBatch(batch: Queued[]): Promise<void> {
    const { signal } = this.#stopped;
    for (let left = batch; left.length > 0;) {
      const idempotencyKey = randomUUID();
      const isStarted = !signal.aborted;
      try {
        await send(this.#config, {
          path: '/api/v1/events/batch',
          body: `{"events":[${left.map(({ text }) => text).join(',')}]}`,
          idempotencyKey,
          signal,
        });
        return;
      } catch (error) {
        const isCut = isStarted && error === signal.reason;
        left = this.#without(isCut ? cutError(idempotencyKey) : error, left);
      }
    }
  }

  /** A batch is accepted as a whole or not at all. Without the events that the server rejected, the others are a new write. */
  #without(thrown: unknown, batch: Queued[]): Queued[] {
    const error = thrown instanceof BeckonError ? thrown : unforeseen(thrown);
    const wrong = error instanceof ValidationError ? indexesIn(error, batch.length) : [];
    for (const index of wrong) {
      const prefix = `events.${index}`;
      const eventErrors = error.errors.filter(
        ({ field }) => field === prefix || field?.startsWith(`${prefix}.`),
      );
      const { code, status, requestId } = error;
      const about = new ValidationError(eventErrors[0]?.message ?? error.message, {
        code,
        status,
        requestId,
        errors: eventErrors,
      });
      this.#fail(about, eventsOf(batch.slice(index, index + 1)));
    }
    if (wrong.length > 0) return batch.filter((_, index) => !wrong.includes(index));
    this.#fail(error, eventsOf(batch));
    return [];
  }

  #fail(error: BeckonError, events: TrackedEvent[]): void {
    try {
      this.#options.onError(error, events);
    } catch (thrown) {
      // An error in the caller's `onError` must neither stop the queue nor get lost.
      queueMicrotask(() => {
        throw thrown;
      });
    }
  }
}

function closedError(): BeckonError {
  return new BeckonError('The client was closed before this event was sent', { code: 'closed' });
}

function cutError(idempotencyKey: string): BeckonError {
  const message = 'The client was closed while this event was on its way: it may have been stored';
  return new BeckonError(message, { code: 'closed', idempotencyKey });
}

function unforeseen(cause: unknown): BeckonError {
  return new BeckonError('The events could not be sent', { code: 'failed', cause });
}

function eventsOf(batch: Queued[]): TrackedEvent[] {
  return batch.map(({ event }) => event);
}

function indexesIn({ errors }: ValidationError, length: number): number[] {
  const found = errors.map(({ field }) => /^events\.(\d+)(?:\.|$)/.exec(field ?? '')?.[1]);
  const indexes = found.filter((text) => text !== undefined).map(Number);
  return [...new Set(indexes)].filter((index) => index < length);
}
