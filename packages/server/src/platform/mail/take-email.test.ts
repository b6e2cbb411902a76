import { PassThrough } from 'node:stream';
import type { SMTPServerDataStream, SMTPServerSession } from 'smtp-server';
import { describe, expect, test } from 'vitest';
import { silentLog } from '../log.ts';
import { onePerTurn } from '../pace.ts';
import { takeEmail } from './listener.ts';

const CONNECTIONS = 20;
const CHUNKS = 10;
const SESSION = {
  envelope: { mailFrom: false, rcptTo: [] },
  remoteAddress: '127.0.0.1',
  hostNameAppearsAs: 'mx',
} as unknown as SMTPServerSession;

describe('takeEmail', () => {
  test('takes one chunk of all connections per turn of the event loop', async () => {
    let loopTurns = 0;
    let isOver = false;
    const countLoopTurn = (): void => {
      loopTurns += 1;
      if (!isOver) setImmediate(countLoopTurn);
    };
    setImmediate(countLoopTurn);
    const taking = {
      sizeMax: 1_000_000,
      held: { bytes: 0 },
      pace: onePerTurn(),
      accept: async () => {},
      log: silentLog,
    };
    const results = await Promise.all(
      Array.from({ length: CONNECTIONS }, () => takeEmail(streamOf(CHUNKS), SESSION, taking)),
    );
    isOver = true;
    expect(results).toEqual(Array.from({ length: CONNECTIONS }, () => null));
    expect(loopTurns).toBeGreaterThanOrEqual(CONNECTIONS * CHUNKS);
    expect(taking.held.bytes).toBe(0);
  });
});

function streamOf(chunks: number): SMTPServerDataStream {
  const stream = new PassThrough();
  for (let chunk = 0; chunk < chunks; chunk += 1) stream.write(Buffer.alloc(1_000));
  stream.end();
  return stream as unknown as SMTPServerDataStream;
}
