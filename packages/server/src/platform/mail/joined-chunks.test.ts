import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JoinedChunks } from './joined-chunks.ts';

const chunk = fc.oneof(
  fc.constant('\n'),
  fc.string({ unit: 'grapheme' }),
  fc.uint8Array(),
  fc.uint8Array().map((bytes) => bytes.slice().buffer),
);

describe('JoinedChunks', () => {
  it('holds the same bytes as a Blob', () =>
    fc.assert(
      fc.asyncProperty(fc.array(chunk), async (chunks) => {
        const joined = new Uint8Array(await new JoinedChunks(chunks).arrayBuffer());
        expect(joined).toEqual(new Uint8Array(await new Blob(chunks as never[]).arrayBuffer()));
      }),
    ));
});
