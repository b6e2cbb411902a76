import { bodyTemplate, ID_MARK, USER_MARK } from './bodies.ts';
import type { RequestSpec } from './plan.ts';

/**
 * Requests are bytes made once. The parts that vary (API key, Idempotency-Key, users) have a fixed place and a fixed length and are
 * overwritten there. Each connection has a copy of its own, because the socket may still be reading from it. All copies take their numbers
 * from one sequence.
 */
export type Requests = {
  /** The numbers of the last record and the last request, shared by all slots. */
  sequence: { request: number; record: number };
  recordsPerRequest: number;
  slot(): Slot;
};

export type Slot = {
  /** Returns the same buffer each time, with the next numbers in it. */
  next(): Buffer;
};

const UUID_BLANK = '00000000-0000-4000-8000-000000000000';
/** The offsets of the 32 digits of a UUID, except for the version and the variant, which stay. */
const UUID_PAIRS = [0, 2, 4, 6, 9, 11, 16, 21, 24, 26, 28, 30, 32, 34];
const USER_BLANK = 'user-00000000-00000000';
const ID_BLANK = '0000000000000000';

type Mark = { at: number; kind: 'user' | 'id' };
type Layout = { bytes: Buffer; keyAt: number; uuidAt: number; marks: Mark[]; records: number };

export function createRequests(spec: RequestSpec, target: { host: string; seed: number }): Requests {
  const keys = (spec.projects ?? []).map((key) => Buffer.from(key, 'latin1'));
  if (keys.some((key) => key.length !== keys[0]?.length))
    throw new Error('all API keys must be of one length: they take each other’s place in the request');
  const layout = lay(spec, target.host, keys[0]?.toString('latin1'));
  const sequence = { request: 0, record: 0 };
  const writer = { spec, keys, layout, sequence, seed: target.seed >>> 0 };
  return { sequence, recordsPerRequest: layout.records, slot: () => createSlot(writer) };
}

function lay(spec: RequestSpec, host: string, key: string | undefined): Layout {
  const template = spec.body ? bodyTemplate(spec.body) : { text: '', records: 0 };
  const body = Buffer.from(template.text.replaceAll(USER_MARK, USER_BLANK).replaceAll(ID_MARK, ID_BLANK));
  const headers: Record<string, string> = {
    Host: host,
    ...(key && { Authorization: `Bearer ${key}` }),
    ...(spec.idempotencyKey && { 'Idempotency-Key': UUID_BLANK }),
    ...(spec.body && { 'Content-Type': 'application/json', 'Content-Length': String(body.length) }),
    ...spec.headers,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = Buffer.from(`${spec.method} ${spec.path} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1');
  return {
    bytes: Buffer.concat([head, body]),
    keyAt: key ? head.indexOf(`Bearer ${key}`) + 'Bearer '.length : -1,
    uuidAt: spec.idempotencyKey ? head.indexOf(UUID_BLANK) : -1,
    marks: findMarks(template.text, head.length),
    records: template.records,
  };
}

/** Returns the marks in the order of the body. An offset includes the growth of the marks before it. */
function findMarks(text: string, start: number): Mark[] {
  const marks: Mark[] = [];
  let at = start;
  for (const piece of text.split(/(\{\{user\}\}|\{\{id\}\})/)) {
    if (piece === USER_MARK) {
      marks.push({ at, kind: 'user' });
      at += USER_BLANK.length;
    } else if (piece === ID_MARK) {
      marks.push({ at, kind: 'id' });
      at += ID_BLANK.length;
    } else at += Buffer.byteLength(piece);
  }
  return marks;
}

type Writer = {
  spec: RequestSpec;
  keys: Buffer[];
  layout: Layout;
  sequence: Requests['sequence'];
  seed: number;
};

function createSlot({ spec, keys, layout, sequence, seed }: Writer): Slot {
  const bytes = Buffer.from(layout.bytes);
  const { keyAt, uuidAt, marks, records } = layout;
  const users = marks.filter((mark) => mark.kind === 'user').map((mark) => mark.at);
  const ids = marks.filter((mark) => mark.kind === 'id').map((mark) => mark.at);
  // A record may name its user twice (id and address), so that many marks belong to one record.
  const marksPerRecord = Math.max(1, Math.round(users.length / Math.max(1, records)));
  const cycle = spec.users ?? 0;
  for (const at of users) writeHex(bytes, at + 14, spec.usersSeed ?? seed);
  return {
    next() {
      const request = sequence.request;
      sequence.request = request + 1;
      if (keys.length > 1) bytes.set(keys[request % keys.length] ?? EMPTY, keyAt);
      if (uuidAt >= 0) writeUuid(bytes, uuidAt, { request, seed });
      const first = sequence.record;
      for (let i = 0; i < users.length; i += 1) {
        const n = first + Math.floor(i / marksPerRecord);
        writeHex(bytes, (users[i] ?? 0) + 5, mix(cycle > 0 ? n % cycle : n));
      }
      for (let i = 0; i < ids.length; i += 1) writeNumber(bytes, ids[i] ?? 0, first + i);
      sequence.record = first + Math.max(records, ids.length);
      return bytes;
    },
  };
}

const EMPTY = Buffer.alloc(0);
const HEX = Buffer.from('0123456789abcdef', 'latin1');

/**
 * Writes a UUID that is random in all its digits, as a real one is, and never repeats. A key that only counts up would favor an index. Its
 * first 32 bits are a mixture that gives another value for every number.
 */
function writeUuid(bytes: Buffer, at: number, { request, seed }: { request: number; seed: number }): void {
  let word = mix(request ^ seed);
  for (let i = 0; i < UUID_PAIRS.length; i += 1) {
    if ((i & 3) === 0 && i > 0) word = mix(word + seed + i);
    const byte = (word >>> ((i & 3) * 8)) & 0xff;
    const pair = at + (UUID_PAIRS[i] ?? 0);
    bytes[pair] = HEX[byte >>> 4] ?? 0;
    bytes[pair + 1] = HEX[byte & 15] ?? 0;
  }
}

function writeHex(bytes: Buffer, at: number, value: number): void {
  for (let i = 0; i < 8; i += 1) bytes[at + i] = HEX[(value >>> (28 - 4 * i)) & 15] ?? 0;
}

function writeNumber(bytes: Buffer, at: number, value: number): void {
  let rest = value;
  for (let i = ID_BLANK.length - 1; i >= 0; i -= 1) {
    bytes[at + i] = 48 + (rest % 10);
    rest = Math.floor(rest / 10);
  }
}

/** The last step of Murmur: a bijection of 32-bit numbers. */
function mix(value: number): number {
  let h = value | 0;
  h ^= h >>> 16;
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
