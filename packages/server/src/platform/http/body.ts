import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Transform } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createZstdDecompress } from 'node:zlib';
import { Fault } from '../fault.ts';
import { onePerTurn } from '../pace.ts';

/** 'aborted': the client left, so no answer is read. */
export type BodyProblem = Fault | 'aborted';
/** Called once. Without a problem, `bytes` are charged to the budget until the receiver releases `bytes.byteLength`. */
export type BodyCallback = (problem: BodyProblem | null, bytes: Buffer) => void;
/** `maxBytes` limits the decompressed bytes. */
export type BodyOptions = { maxBytes: number; budget: BodyBudget };

/**
 * Reads a JSON body: media type, coding, size, UTF-8, in that order; it does not parse. A refusal leaves the rest of the body unread and
 * the request paused. The caller writes the answer, with `refuseBody` before it.
 */
export function readBody(request: IncomingMessage, options: BodyOptions, callback: BodyCallback): void {
  const { headers } = request;
  const length = headers['content-length'];
  const hasBody = length === undefined ? headers['transfer-encoding'] !== undefined : length !== '0';
  const coding = codingOf(headers['content-encoding']);
  if (coding === null || !isJson(headers['content-type'], hasBody)) {
    return callback(new Fault('unsupported_media_type'), NOTHING);
  }
  if (!hasBody) return callback(bodyFault('The body is empty'), NOTHING);
  const declaredBytes = Number(length ?? 0);
  if (declaredBytes > (coding === 'identity' ? options.maxBytes : wireMaxBytes(options))) {
    return callback(tooLarge(options), NOTHING);
  }
  if (declaredBytes > options.budget.freeBytes()) return callback(tooBusy(), NOTHING);
  // The client left while its key was being checked: no further event will arrive.
  if (request.destroyed) return callback('aborted', NOTHING);
  if (coding === 'identity') readPlain(request, options, callback);
  else readCoded(request, options, { callback, coding, decoder: DECODERS[coding]() });
}

/** All bodies held by one process. They are charged as bytes arrive, so a client that declares much and sends nothing blocks no other. */
export type BodyBudget = {
  take(bytes: number): boolean;
  release(bytes: number): void;
  freeBytes(): number;
};

const BODIES_IN_FLIGHT_MAX_BYTES = 256 * 1024 * 1024;
/** Bodies are released within a few commits; one second is many of those. */
const BUSY_RETRY_AFTER_S = 1;

export function createBodyBudget(maxBytes: number = BODIES_IN_FLIGHT_MAX_BYTES): BodyBudget {
  let heldBytes = 0;
  return {
    take(bytes) {
      if (heldBytes + bytes > maxBytes) return false;
      heldBytes += bytes;
      return true;
    },
    release(bytes) {
      heldBytes -= bytes;
    },
    freeBytes: () => maxBytes - heldBytes,
  };
}

/**
 * The budget that one project's bodies are charged to: at most as much as they leave free. However many bodies it sends, and however
 * slowly, other projects have space.
 */
export type BodyShares = (projectId: number) => BodyBudget;

export function createBodyShares(all: BodyBudget = createBodyBudget()): BodyShares {
  const heldBy = new Map<number, number>();
  const hold = (projectId: number, bytes: number): void => {
    if (bytes === 0) heldBy.delete(projectId);
    else heldBy.set(projectId, bytes);
  };
  return function shareOf(projectId) {
    const held = (): number => heldBy.get(projectId) ?? 0;
    const freeBytes = (): number => Math.max(0, Math.floor((all.freeBytes() - held()) / 2));
    return {
      take(bytes) {
        if (bytes > freeBytes() || !all.take(bytes)) return false;
        hold(projectId, held() + bytes);
        return true;
      },
      release(bytes) {
        all.release(bytes);
        hold(projectId, held() - bytes);
      },
      freeBytes,
    };
  };
}

/** The part of a budget that one request holds. */
export type BodyHold = {
  budget: BodyBudget;
  /** Counts bytes that were taken from the budget already. */
  adopt(bytes: number): void;
  /** Holds this many bytes from now on. Returns false and changes nothing if the budget has too few. */
  change(bytes: number): boolean;
  release(): void;
};

export function holdOf(budget: BodyBudget): BodyHold {
  let held = 0;
  return {
    budget,
    adopt(bytes) {
      held += bytes;
    },
    change(bytes) {
      if (bytes > held && !budget.take(bytes - held)) return false;
      if (bytes < held) budget.release(held - bytes);
      held = bytes;
      return true;
    },
    release() {
      budget.release(held);
      held = 0;
    },
  };
}

const NOTHING = Buffer.alloc(0);
/**
 * Joining the chunks of 10 MiB takes up to 40 ms. When 27 compressed bodies ended together, that took 800 ms in one turn of the event loop.
 */
const LARGE_BYTES = 1024 * 1024;
const nextLargeBody = onePerTurn();
const JSON_TYPE = /^application\/json[ \t]*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*)?$/i;

function isJson(type: string | undefined, hasBody: boolean): boolean {
  if (type === undefined) return !hasBody;
  return type === 'application/json' || JSON_TYPE.test(type);
}

type ContentCoding = 'identity' | 'gzip' | 'br' | 'zstd';
const CODINGS: ReadonlyMap<string, ContentCoding> = new Map([
  ['identity', 'identity'],
  ['', 'identity'],
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['br', 'br'],
  ['zstd', 'zstd'],
]);

/** A list of codings (`gzip, gzip`) is not in the table, so stacked codings are rejected like unknown ones. */
function codingOf(header: string | undefined): ContentCoding | null {
  return header === undefined ? 'identity' : (CODINGS.get(header.trim().toLowerCase()) ?? null);
}

/** The frame's own header declares its window, up to 128 MiB; RFC 9659 limits the coding `zstd` to 8 MiB. */
const ZSTD_WINDOW_LOG_MAX = 23;
const DECODERS: Record<Exclude<ContentCoding, 'identity'>, () => Transform> = {
  gzip: () => createGunzip({ rejectGarbageAfterEnd: true }),
  br: () => createBrotliDecompress({ rejectGarbageAfterEnd: true }),
  zstd: () =>
    createZstdDecompress({
      rejectGarbageAfterEnd: true,
      params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG_MAX },
    }),
};

/** An honest compressor makes at most this of incompressible bytes. Empty blocks could go on without end. */
function wireMaxBytes(options: BodyOptions): number {
  return options.maxBytes + options.maxBytes / 16 + 1_024;
}

/** The bytes received so far, charged to the budget chunk by chunk. Either `take` refuses or `finish` passes the bytes on, never both. */
class BodyChunks {
  readonly #options: BodyOptions;
  #first: Buffer = NOTHING;
  #all: Buffer[] | null = null;
  #bytes = 0;

  constructor(options: BodyOptions) {
    this.#options = options;
  }

  take(chunk: Buffer): Fault | null {
    const bytes = this.#bytes + chunk.byteLength;
    if (bytes > this.#options.maxBytes) return tooLarge(this.#options);
    if (!this.#options.budget.take(chunk.byteLength)) return tooBusy();
    if (this.#bytes === 0) this.#first = chunk;
    else (this.#all ??= [this.#first]).push(chunk);
    this.#bytes = bytes;
    return null;
  }

  drop(): void {
    this.#options.budget.release(this.#bytes);
  }

  finish(callback: BodyCallback): void {
    if (this.#bytes <= LARGE_BYTES) this.#join(callback);
    else void this.#joinInTurn(callback);
  }

  async #joinInTurn(callback: BodyCallback): Promise<void> {
    await nextLargeBody();
    this.#join(callback);
  }

  #join(callback: BodyCallback): void {
    const bytes = this.#all === null ? this.#first : Buffer.concat(this.#all, this.#bytes);
    // The request keeps its listeners, and through them this object, until it is answered.
    this.#first = NOTHING;
    this.#all = null;
    if (bytes.byteLength > 0 && isUtf8(bytes)) return callback(null, bytes);
    this.drop();
    callback(
      bodyFault(bytes.byteLength === 0 ? 'The body is empty' : 'The body is not valid UTF-8'),
      NOTHING,
    );
  }
}

/** The hot path: usually one chunk, which is passed on as it arrived. */
function readPlain(request: IncomingMessage, options: BodyOptions, callback: BodyCallback): void {
  const chunks = new BodyChunks(options);
  let settled = false;
  function refuse(problem: BodyProblem): void {
    settled = true;
    request.off('data', onData).off('end', onEnd).off('close', onClose).pause();
    chunks.drop();
    callback(problem, NOTHING);
  }
  function onData(chunk: Buffer): void {
    const fault = chunks.take(chunk);
    if (fault !== null) refuse(fault);
  }
  function onEnd(): void {
    settled = true;
    chunks.finish(callback);
  }
  function onClose(): void {
    if (!settled) refuse('aborted');
  }
  request.on('data', onData).on('end', onEnd).on('close', onClose);
}

type CodedTarget = { callback: BodyCallback; coding: ContentCoding; decoder: Transform };

function readCoded(request: IncomingMessage, options: BodyOptions, target: CodedTarget): void {
  const { callback, coding, decoder } = target;
  const chunks = new BodyChunks(options);
  let wireBytes = 0;
  let settled = false;
  function settle(problem: BodyProblem | null): void {
    if (settled) return;
    settled = true;
    request.off('data', onData).off('end', onEnd).off('close', onClose);
    decoder.destroy();
    if (problem === null) return chunks.finish(callback);
    request.pause();
    chunks.drop();
    callback(problem, NOTHING);
  }
  function onData(chunk: Buffer): void {
    wireBytes += chunk.byteLength;
    if (wireBytes > wireMaxBytes(options)) return settle(tooLarge(options));
    if (!decoder.write(chunk)) request.pause();
  }
  function onEnd(): void {
    decoder.end();
  }
  function onClose(): void {
    if (!request.readableEnded) settle('aborted');
  }
  decoder.on('data', (chunk: Buffer) => {
    // A chunk is a view of the decompressor's 16 KiB. Kept as a view, a body of ten bytes would hold all of them.
    const fault = settled ? null : chunks.take(Buffer.from(chunk));
    if (fault !== null) settle(fault);
  });
  decoder.on('drain', () => {
    if (!settled) request.resume();
  });
  decoder.on('end', () => settle(null));
  decoder.on('error', (error) => settle(bodyFault(`The body is not valid ${coding}`, error)));
  request.on('data', onData).on('end', onEnd).on('close', onClose);
}

function bodyFault(message: string, cause?: unknown): Fault {
  return new Fault('validation_failed', { details: [{ message, field: 'body' }], cause });
}

function tooLarge(options: BodyOptions): Fault {
  return new Fault('payload_too_large', {
    details: [
      { message: `The body is larger than the ${options.maxBytes} bytes that this endpoint accepts` },
    ],
  });
}

export function tooBusy(): Fault {
  return new Fault('server_error', { retryAfterS: BUSY_RETRY_AFTER_S });
}
