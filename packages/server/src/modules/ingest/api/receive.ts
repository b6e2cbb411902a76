import { MANY_BODY_MAX_BYTES, SINGLE_BODY_MAX_BYTES } from '@beckon/contract';
import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { Call, Tally } from './call.ts';
import type { IngestEndpoint, ReadRequest } from './endpoint.ts';
import type { LargeBodies, EventLoopYield } from './large-bodies.ts';
import { type IdempotencyKey, readIdempotencyKey } from '../idempotency/key.ts';
import { sha256 } from '../../../platform/crypto/hash.ts';
import { Fault } from '../../../platform/fault.ts';
import { type BodyHold, readBody, tooBusy } from '../../../platform/http/body.ts';
import {
  checkJson,
  heapBytesOf,
  MANY_JSON,
  SINGLE_JSON,
  TEXT_BYTES,
} from '../../../platform/http/check-json.ts';
import { canonicalJson } from '../../../platform/text/canonical-json.ts';
import { parseInPieces } from '../../../platform/text/json-pieces.ts';
import type { JsonBounds } from '../../../platform/text/json-scan.ts';
import { runSteps, runStepsSlowly, type Steps } from '../../../platform/time/steps.ts';
import { parseJson } from '../../../platform/text/parse-json.ts';

/** An Idempotency-Key and the request that uses it. */
export type IdempotentRequest = { key: string; fingerprint: string; isUuidV4: boolean };
/** A request after reading. Neither its bytes nor the parsed body are kept. */
export type Received = { once: IdempotentRequest | null; read: ReadRequest };

export type ReceiveInput = {
  endpoint: IngestEndpoint;
  call: Call;
  projectId: number;
  /** Called once the body is complete. */
  now: () => Promise<number>;
  /** Gets the size of the body. */
  tally: Pick<Tally, 'bytes'>;
  /** The part of the budget for bodies that the request holds. */
  hold: BodyHold;
  largeBodies: LargeBodies;
};

/** Reads, checks, parses and validates a body. Null: the client left. */
export async function receive(input: ReceiveInput): Promise<Received | null> {
  const bytes = await bodyOf(input);
  if (!bytes) return null;
  input.tally.bytes = bytes.byteLength;
  // Even counting a long body takes some 20 ms, and many can be complete at the same moment.
  if (bytes.byteLength > LARGE_BYTES) return receiveLarge(input, bytes);
  const { values } = checkJson(bytes, boundsOf(input));
  if (values > LARGE_VALUES) return receiveLarge(input, bytes);
  // A small body is read without a pause, so at most one of them is parsed at a time, and none needs to be charged.
  return readBytes(input, { bytes, now: await input.now(), pause: null });
}

/** Below both bounds, reading a body takes some 20 ms at most. */
const LARGE_BYTES = 1024 * 1024;
const LARGE_VALUES = 25_000;

async function receiveLarge(input: ReceiveInput, bytes: Buffer): Promise<Received> {
  const { hold, largeBodies, projectId } = input;
  const received = await largeBodies(projectId, async (pause) => {
    const counts = checkJson(bytes, boundsOf(input));
    if (!hold.change(bytes.byteLength + heapBytesOf(counts, bytes.byteLength))) throw tooBusy();
    return readBytes(input, { bytes, now: await input.now(), pause });
  });
  // From here on, only the text of the records is kept.
  hold.change(bytes.byteLength * TEXT_BYTES);
  return received;
}

function boundsOf({ endpoint }: ReceiveInput): JsonBounds {
  return endpoint.kind === 'single' ? SINGLE_JSON : MANY_JSON;
}

function bodyOf({ endpoint, call, hold }: ReceiveInput): Promise<Buffer | null> {
  const maxBytes = endpoint.kind === 'single' ? SINGLE_BODY_MAX_BYTES : MANY_BODY_MAX_BYTES;
  return new Promise((resolve, reject) => {
    readBody(call.request, { maxBytes, budget: hold.budget }, (problem, bytes) => {
      if (problem === null) {
        hold.adopt(bytes.byteLength);
        resolve(bytes);
      } else if (problem === 'aborted') resolve(null);
      else reject(problem);
    });
  });
}

type Complete = { bytes: Buffer; now: number; pause: EventLoopYield | null };

async function readBytes(
  { endpoint, call }: ReceiveInput,
  { bytes, now, pause }: Complete,
): Promise<Received> {
  const body = pause ? await parseSlowly(bytes) : parseAtOnce(bytes);
  const key = idempotencyKeyOf(call);
  if (pause) await pause();
  const steps = endpoint.read(body, { now, checkStrings: bytes.includes('\\u') });
  const read = pause ? await runStepsSlowly(steps) : runSteps(steps);
  if (!key) return { once: null, read: withoutText(read) };
  if (pause) await pause();
  const print = fingerprintOf(endpoint, { body, bytes, read });
  const once = {
    key: key.digest,
    isUuidV4: key.isUuidV4,
    fingerprint: pause ? await runStepsSlowly(print) : runSteps(print),
  };
  return { once, read: withoutText(read) };
}

/** The text of the whole body is used for the fingerprint alone, and is as long as all records together. */
function withoutText(read: ReadRequest): ReadRequest {
  return read.ok && read.compact !== null ? { ...read, compact: null } : read;
}

/** Parses in pieces. A piece takes so little time that one round of the event loop between two is enough. */
async function parseSlowly(bytes: Buffer): Promise<Record<string, unknown>> {
  try {
    return objectOf(await parseInPieces(bytes, { listDepth: 2, pause: setImmediate }));
  } catch (error) {
    throw notJson(error);
  }
}

function parseAtOnce(bytes: Buffer): Record<string, unknown> {
  try {
    return objectOf(parseJson(bytes.toString()));
  } catch (error) {
    throw notJson(error);
  }
}

function objectOf(body: unknown): Record<string, unknown> {
  if (typeof body === 'object' && body !== null && !Array.isArray(body))
    return body as Record<string, unknown>;
  throw invalid({ message: 'The body must be a JSON object', field: 'body' });
}

function notJson(error: unknown): unknown {
  if (!(error instanceof SyntaxError)) return error;
  return invalid({ message: 'The body is not valid JSON', field: 'body' }, error);
}

/** The Idempotency-Key is read before the fields are, so an invalid key is reported first. */
function idempotencyKeyOf({ request }: Call): IdempotencyKey | null {
  const header = request.headers['idempotency-key'];
  if (header === undefined) return null;
  const read = typeof header === 'string' ? readIdempotencyKey(header) : null;
  if (!read) {
    const message =
      'Idempotency-Key must be a single header of 1 to 255 visible ASCII characters, preferably a UUID v4';
    throw invalid({ message, field: 'Idempotency-Key' });
  }
  return read;
}

type Parsed = { body: unknown; bytes: Buffer; read: ReadRequest };

function fingerprintOf(endpoint: IngestEndpoint, { body, bytes, read }: Parsed): Steps<string> {
  const sound = read.ok && read.refused.length === 0;
  const compact = read.ok ? read.compact : null;
  return fingerprint({
    path: endpoint.path,
    body,
    raw: bytes,
    canonical: endpoint.kind === 'single',
    sound,
    compact,
  });
}

function invalid(detail: { message: string; field: string }, cause?: unknown): Fault {
  return new Fault('validation_failed', { details: [detail], cause });
}

type FingerprintInput = {
  path: string;
  body: unknown;
  /** The body as received, for bodies that are nested too deeply to be serialized. */
  raw: Uint8Array;
  /** Ignore key order, white space and escapes. For long bodies key order counts, because sorting would cost more than everything else. */
  canonical: boolean;
  /** The whole body passed validation, so JSON can represent every number in it. */
  sound: boolean;
  /** The compact JSON text of the body in pieces, if parsing created them. */
  compact?: readonly string[] | null;
};

/** Hashes the method, the path and a normalized form of the body. Requests with the same fingerprint have the same body. */
export function* fingerprint(input: FingerprintInput): Steps<string> {
  const head = `POST ${input.path}\n`;
  try {
    // Bodies of one record are small and many: hashing one in a single call costs less.
    if (input.canonical) return sha256(head + canonicalJson(input.body));
    const hash = createHash('sha256').update(head);
    let length = 0;
    for (const piece of piecesOf(input)) {
      hash.update(piece);
      length += piece.length;
      if (length < LENGTH_PER_STEP) continue;
      yield;
      length = 0;
    }
    return hash.digest('hex');
  } catch (error) {
    // Only a body that is deeper or wider than any valid one gets here, so a hash of its bytes is enough.
    if (error instanceof RangeError) return sha256(`${head}raw ${sha256(input.raw)}`);
    throw error;
  }
}

/** Hashing this much text takes about 2 ms. A body of 10 MiB took 70 ms in one step. */
const LENGTH_PER_STEP = 256 * 1024;

function piecesOf({ body, sound, compact }: FingerprintInput): Iterable<string> {
  return compact ?? writeInPieces(body, sound ? undefined : spellNumber);
}

type Replacer = (key: string, value: unknown) => unknown;

/** Writes the same text as `JSON.stringify`, with a piece for each element of a list in the body. */
function* writeInPieces(body: unknown, replacer: Replacer | undefined): Generator<string, void, void> {
  if (!isObject(body)) return yield JSON.stringify(body, replacer);
  let before = '{';
  for (const [key, value] of Object.entries(body)) {
    yield `${before}${JSON.stringify(key)}:`;
    yield* Array.isArray(value) ? writeList(value, replacer) : [JSON.stringify(value, replacer)];
    before = ',';
  }
  yield before === '{' ? '{}' : '}';
}

function* writeList(list: unknown[], replacer: Replacer | undefined): Generator<string, void, void> {
  let before = '[';
  for (const item of list) {
    yield `${before}${JSON.stringify(item, replacer)}`;
    before = ',';
  }
  yield before === '[' ? '[]' : ']';
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Distinguishes infinite numbers. 1e400 is parsed as infinite and would be written as null, which is another value. No valid text starts
 * with this character.
 */
function spellNumber(_key: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isFinite(value) ? `\ud800${value}` : value;
}
