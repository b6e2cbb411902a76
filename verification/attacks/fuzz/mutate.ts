/** A small random number generator: the same seed gives the same inputs. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Tokens that parsers often mishandle. */
const TOKENS = [
  '\0',
  '\n',
  '\r',
  '\r\n\r\n',
  '\t',
  ' ',
  '"',
  "'",
  '\\',
  '\\u0000',
  '\\ud800',
  ',',
  ';',
  ':',
  '=',
  '=?utf-8?B?',
  '--',
  '<',
  '>',
  '<!--',
  '&amp;',
  '{',
  '}',
  '[',
  ']',
  '{}',
  '[]',
  'null',
  'true',
  '-0',
  '1e400',
  '-1',
  '9'.repeat(30),
  '0x',
  '%00',
  '%',
  '{{',
  '}}',
  '{%',
  '__proto__',
  'constructor',
  '@',
  '..',
  '//',
  '\uFEFF',
  '\u202E',
  '\u2028',
  '😀',
  'é',
  'e\u0301',
  '\xff\xfe',
  'Content-Type: multipart/mixed; boundary=',
  '\nContent-Transfer-Encoding: base64\n',
  'charset=utf-16',
  '5.1.1',
  '(',
  ')',
  '*',
  '+',
  '?',
  '|',
  'and',
  'or',
  'NaN',
  'Infinity',
  '0198a000-0000-7000-8000-00000000000f',
].map((token) => Buffer.from(token));

export type Mutator = { seeds: Buffer[]; bytesMax: number; random: () => number };

/** Returns one of the seeds, changed in one to six places. */
export function mutate({ seeds, bytesMax, random }: Mutator): Buffer {
  const pick = <T>(items: readonly T[]): T | undefined => items[Math.floor(random() * items.length)];
  let bytes = pick(seeds) ?? Buffer.alloc(0);
  const changes = 1 + Math.floor(random() * 6);
  for (let n = 0; n < changes; n += 1) {
    const at = Math.floor(random() * (bytes.length + 1));
    const length = Math.floor(random() * (random() < 0.8 ? 4 : 1 + bytes.length / 2));
    const kind = Math.floor(random() * 6);
    const token = pick(TOKENS) ?? Buffer.alloc(0);
    if (kind === 0) bytes = splice(bytes, { at, length, insertion: Buffer.alloc(0) });
    else if (kind === 1) bytes = splice(bytes, { at, length: 0, insertion: token });
    else if (kind === 2) bytes = splice(bytes, { at, length, insertion: token });
    else if (kind === 3) bytes = flip(bytes, at, 1 << Math.floor(random() * 8));
    else if (kind === 4) bytes = splice(bytes, { at, length: 0, insertion: cross(pick(seeds), random) });
    else
      bytes = splice(bytes, {
        at,
        length: 0,
        insertion: repeated(random() < 0.5 ? token : bytes.subarray(at, at + length), bytesMax, random),
      });
  }
  return bytes.subarray(0, bytesMax);
}

type Splice = { at: number; length: number; insertion: Buffer };

function splice(bytes: Buffer, { at, length, insertion }: Splice): Buffer {
  return Buffer.concat([bytes.subarray(0, at), insertion, bytes.subarray(at + length)]);
}

function flip(bytes: Buffer, at: number, bit: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ bit;
  return copy;
}

function cross(other: Buffer = Buffer.alloc(0), random: () => number): Buffer {
  const from = Math.floor(random() * other.length);
  return other.subarray(from, from + Math.floor(random() * 200));
}

/** Repeats a piece, occasionally up to the limit: only then does quadratic growth show. */
function repeated(piece: Buffer, bytesMax: number, random: () => number): Buffer {
  if (piece.length === 0) return piece;
  const bytes = random() < 0.05 ? bytesMax : 300 * random();
  return Buffer.alloc(Math.ceil(bytes), piece);
}
