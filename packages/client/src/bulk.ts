import { randomUUID } from 'node:crypto';
import { BULK_INGEST_MAX_RECORDS, type BulkError, type BulkResult } from '@beckon/contract';
import type { BulkChunk, BulkOptions, BulkProgress, BulkReport, Rejection } from './bulk-types.ts';
import { type AboutUser, type Chunk, Chunks, type Entry, type Source } from './chunks.ts';
import { BeckonError, QueueFullError } from './errors.ts';
import { Pace } from './pace.ts';
import { atLeast } from './place.ts';
import { waitBefore } from './retry.ts';
import { type ApiResponse, type ClientConfig, send, wait } from './transport.ts';

export type Upload = { path: string; list: 'users' | 'events'; suppressTriggers?: boolean };

const CONCURRENCY = 2;
const PATIENCE_MS = 15 * 60_000;
const ERRORS_MAX = 1_000;

/**
 * Uploads any number of records in chunks. Only a few chunks are sent at the same time. Two of them never have the same user, so that the
 * records of a user are applied in order. Chunks are reported in order as well.
 */
export async function upload<Item extends AboutUser>(
  config: ClientConfig,
  what: Upload & { source: Source<Item> },
  options: BulkOptions<Item>,
): Promise<BulkReport> {
  const run = new Run(config, what, options);
  const chunks = new Chunks(what.source, what.list === 'users' ? 'traits' : 'properties');
  const { concurrency = CONCURRENCY } = options;
  atLeast('concurrency', concurrency, 1);
  const flights: Flight<Item>[] = [];
  let next = await chunks.next(run.chunkRecords);
  try {
    while (next !== null || flights.length > 0) {
      if (next !== null && flights.length < concurrency && !meets(next, flights)) {
        flights.push(run.launch(next));
        next = await chunks.next(run.chunkRecords);
        continue;
      }
      const [oldest] = flights;
      if (oldest === undefined) break;
      await run.report(oldest.chunk, await oldest.rejected);
      flights.shift();
    }
    return run.result;
  } catch (error) {
    run.cancel();
    await Promise.allSettled(flights.map(({ rejected }) => rejected));
    await chunks.stop();
    throw error;
  } finally {
    run.end();
  }
}

type Flight<Item> = { chunk: Chunk<Item>; rejected: Promise<Rejection<Item>[]> };

function meets<Item>({ users }: Chunk<Item>, flights: readonly Flight<Item>[]): boolean {
  for (const { chunk } of flights) for (const user of users) if (chunk.users.has(user)) return true;
  return false;
}

class Run<Item extends AboutUser> {
  readonly result: BulkReport = { received: 0, accepted: 0, rejected: 0, errors: [] };
  readonly #config: ClientConfig;
  readonly #what: Upload;
  readonly #options: BulkOptions<Item>;
  readonly #pace: Pace;
  readonly #stopped = new AbortController();
  readonly #abort = (): void => this.#stopped.abort(this.#options.signal?.reason);

  constructor(config: ClientConfig, what: Upload, options: BulkOptions<Item>) {
    const { chunkRecords = BULK_INGEST_MAX_RECORDS, signal } = options;
    atLeast('chunkRecords', chunkRecords, 1);
    signal?.throwIfAborted();
    signal?.addEventListener('abort', this.#abort);
    this.#config = config;
    this.#what = what;
    this.#options = options;
    this.#pace = new Pace(Math.min(chunkRecords, BULK_INGEST_MAX_RECORDS));
  }

  get chunkRecords(): number {
    return this.#pace.chunkRecords;
  }

  launch(chunk: Chunk<Item>): Flight<Item> {
    const rejected = this.#sendAll(chunk.entries);
    // Prevents an unhandled rejection while an older chunk is awaited. The error is still thrown when this chunk is awaited.
    rejected.catch(() => {});
    return { chunk, rejected };
  }

  async report({ first, entries }: Chunk<Item>, rejected: Rejection<Item>[]): Promise<void> {
    for (const { item: _, ...error } of rejected) {
      if (this.result.errors.length < ERRORS_MAX) this.result.errors.push(error);
    }
    const records = entries.length;
    const { onChunk } = this.#options;
    if (!onChunk) return;
    const chunk: BulkChunk<Item> = {
      first,
      records,
      accepted: records - rejected.length,
      rejected,
      items: entries.map(({ item }) => item),
    };
    await onChunk(chunk);
  }

  cancel(): void {
    this.#stopped.abort(new BeckonError('The upload has failed already', { code: 'aborted' }));
  }

  end(): void {
    this.#options.signal?.removeEventListener('abort', this.#abort);
  }

  /**
   * Sends a chunk in smaller pieces after the queue was full. The server stored nothing of a rejected request, so each piece is a new
   * write.
   */
  async #sendAll(entries: readonly Entry<Item>[]): Promise<Rejection<Item>[]> {
    const rejected: Rejection<Item>[] = [];
    let refusedSince: number | null = null;
    for (let at = 0; at < entries.length;) {
      const piece = entries.slice(at, at + this.#pace.chunkRecords);
      try {
        rejected.push(...(await this.#sendPiece(piece)));
        refusedSince = null;
        at += piece.length;
      } catch (error) {
        if (!(error instanceof QueueFullError)) throw error;
        const now = performance.now();
        refusedSince ??= now;
        this.#waitForRoom(error, now - refusedSince);
      }
    }
    return rejected;
  }

  #waitForRoom(error: QueueFullError, elapsedMs: number): void {
    const { patienceMs = PATIENCE_MS } = this.#options;
    const rule = { attempts: 1, totalMs: patienceMs };
    const refused = { why: 'queue_full', retryAfterMs: error.retryAfterMs } as const;
    const waitMs = waitBefore(refused, rule, { attempts: 1, turnedAway: 1, elapsedMs });
    if (waitMs === null) throw error;
    this.#pace.full(performance.now(), waitMs);
    this.#say('queue_full', waitMs);
  }

  async #sendPiece(piece: readonly Entry<Item>[]): Promise<Rejection<Item>[]> {
    const sent = piece.filter((entry) => 'text' in entry);
    const errors = piece.flatMap((entry) => ('error' in entry ? [{ ...entry.error, item: entry.item }] : []));
    if (sent.length > 0) {
      await wait(this.#pace.reserve(sent.length, performance.now()), this.#stopped.signal);
      const result = await this.#request(sent);
      this.#pace.accepted(sent.length);
      for (const error of result.data.errors) errors.push(absolute(error, sent));
    }
    this.result.received += piece.length;
    this.result.accepted += piece.length - errors.length;
    this.result.rejected += errors.length;
    this.#say('sending', 0);
    return errors.toSorted((a, b) => a.index - b.index);
  }

  async #request(sent: readonly (Entry<Item> & { text: string })[]): Promise<BulkResult> {
    const { path, list, suppressTriggers = false } = this.#what;
    const { idempotencyKey = () => randomUUID(), patienceMs = PATIENCE_MS } = this.#options;
    const texts = sent.map(({ text }) => text).join(',');
    const response = await send(this.#config, {
      path,
      body: `{"${list}":[${texts}]${suppressTriggers ? ',"suppressTriggers":true' : ''}}`,
      idempotencyKey: idempotencyKey({ first: sent[0]?.index ?? 0, records: sent.length }),
      signal: this.#stopped.signal,
      retry: { attempts: Number.POSITIVE_INFINITY, totalMs: patienceMs },
      leaveQueueFull: true,
      onWait: ({ why }, waitMs) => this.#say(why === 'rate_limited' ? why : 'retrying', waitMs),
    });
    return resultOf(response, sent.length);
  }

  #say(state: BulkProgress['state'], waitMs: number): void {
    const { received, accepted, rejected } = this.result;
    this.#options.onProgress?.({ received, accepted, rejected, state, waitMs });
  }
}

/** A response that does not account for all sent records did not come from Beckon, so it is an error. */
function resultOf({ body, requestId }: ApiResponse, sent: number): BulkResult {
  const { data } = body as Partial<BulkResult>;
  if (Array.isArray(data?.errors) && data.accepted + data.errors.length === sent) return body as BulkResult;
  const message = 'The answer does not account for the records that were sent';
  throw new BeckonError(message, { code: 'unexpected_answer', requestId });
}

/** The server counts within the request; this converts to the index in the upload. */
function absolute<Item>(error: BulkError, sent: readonly Entry<Item>[]): Rejection<Item> {
  const entry = sent[error.index];
  if (entry === undefined) {
    throw new BeckonError('The answer names a record that was not sent', { code: 'unexpected_answer' });
  }
  return { ...error, index: entry.index, item: entry.item };
}
