import { constants, createBrotliCompress, gzipSync } from 'node:zlib';

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;
const BYTES = 42 * 1024;

/** Returns few bytes that decompress to many, by content encoding: 41 MiB, 1.3 GiB and 4 GiB. */
export async function bombs(): Promise<Record<string, Buffer>> {
  return { gzip: gzipBomb(), zstd: zstdBomb(), br: await brotliBomb() };
}

/** Deflate compresses to a thousandth at best. */
function gzipBomb(): Buffer {
  return gzipSync(Buffer.alloc(41 * MIB), { level: 9 });
}

/** One frame of run-length blocks: four bytes for 128 KiB each. */
function zstdBomb(): Buffer {
  const windowOf8MiB = 0x68;
  const header = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, windowOf8MiB]);
  const runLength = 1;
  const block = (last: 0 | 1): Buffer => {
    const bytes = Buffer.alloc(4);
    bytes.writeUIntLE(((128 * 1024) << 3) | (runLength << 1) | last, 0, 3);
    return bytes;
  };
  const blocks = Array<Buffer>(BYTES / 4 - 3).fill(block(0));
  return Buffer.concat([header, ...blocks, block(1)]);
}

/** After a flush the compressor writes the same bytes for the same zeros, so 4 GiB need not be compressed. */
async function brotliBomb(): Promise<Buffer> {
  const piece = 16 * MIB;
  const stream = createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });
  const parts: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => parts.push(chunk));
  const takeParts = (): Buffer => Buffer.concat(parts.splice(0));
  const zeros = Buffer.alloc(piece);
  const flushed = (): Promise<Buffer> =>
    new Promise((resolve) => stream.write(zeros, () => stream.flush(() => resolve(takeParts()))));
  const head = await flushed();
  await flushed();
  const again = await flushed();
  stream.destroy();
  const last = Buffer.from([0x03]);
  return Buffer.concat([head, ...Array<Buffer>((4 * GIB) / piece - 1).fill(again), last]);
}

/** Returns JSON of up to 10 MiB (a few kB in gzip) that is never a valid request and is costly to parse. */
export function costlyBodies(list: 'users' | 'events'): Record<string, string> {
  const keys = Array.from({ length: 700_000 }, (_, n) => `"${n.toString(36)}":1`).join(',');
  return {
    '4.75 million brackets in a list': `{"${list}":${'['.repeat(4_750_000)}${']'.repeat(4_750_000)}}`,
    'three million empty objects': `{"${list}":[${'{},'.repeat(3_000_000)}{}]}`,
    'three million empty lists in lists of a thousand': `{"${list}":[${`[${'[],'.repeat(999)}[]],`.repeat(3_000)}[]]}`,
    '700,000 keys': `{"${list}":[{"external_user_id":"u","traits":{${keys}}}]}`,
    'one key 1.5 million times': `{${'"a":0,'.repeat(1_500_000)}"a":0}`,
    '5 million zeros': `{"${list}":[${'0,'.repeat(5_000_000)}0]}`,
    'a number of 10 million digits': `{"${list}":${'9'.repeat(10_000_000)}}`,
  };
}

/** A body of 40 kB that compares two lists of 20,000 items 1,500 times. It took 14 seconds before work was counted. */
export function costlyBody(): string {
  const list = `"${'x'.repeat(20_000)}" | split: ""`;
  const compares = Array.from({ length: 15 }, () => 'a!=b').join(' or ');
  return `{% assign a = ${list} %}{% assign b = ${list} %}{% for i in (1..100) %}{% if ${compares} %}{% endif %}{% endfor %}`;
}
