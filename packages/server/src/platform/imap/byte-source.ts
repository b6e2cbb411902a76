import type { Socket } from 'node:net';
import { ImapError, protocolError } from './imap-error.ts';

/** Reads a socket by lines and by counts of bytes. It holds no more than one chunk that was not asked for. */
export type ByteSource = {
  /** Returns the next line without its end. Throws if it is longer than `max`. */
  line(max: number): Promise<Buffer>;
  /** Returns exactly this many bytes. */
  take(count: number): Promise<Buffer>;
  /** Returns whether bytes were received that nobody has read. */
  hasMore(): boolean;
};

const LF = 10;
const CR = 13;
const NOTHING = Buffer.alloc(0);

/** `silenceMs`: how long the server may send nothing. */
export function byteSource(socket: Socket, { silenceMs }: { silenceMs: number }): ByteSource {
  let held: Buffer = NOTHING;

  async function nextChunk(): Promise<Buffer> {
    if (held.length > 0) {
      const chunk = held;
      held = NOTHING;
      return chunk;
    }
    for (;;) {
      const chunk = socket.read() as Buffer | null;
      if (chunk !== null) return chunk;
      await untilReadable(socket, silenceMs);
    }
  }

  return {
    async line(max) {
      const parts: Buffer[] = [];
      for (let length = 0; ;) {
        const chunk = await nextChunk();
        const end = chunk.indexOf(LF);
        const part = end < 0 ? chunk : chunk.subarray(0, end);
        parts.push(part);
        length += part.length;
        if (length > max) throw protocolError(`a line has more than ${max} bytes`);
        if (end < 0) continue;
        held = chunk.subarray(end + 1);
        const line = Buffer.concat(parts);
        return line.at(-1) === CR ? line.subarray(0, -1) : line;
      }
    },
    async take(count) {
      const parts: Buffer[] = [];
      for (let missing = count; missing > 0;) {
        const chunk = await nextChunk();
        const part = chunk.subarray(0, missing);
        parts.push(part);
        missing -= part.length;
        held = chunk.subarray(part.length);
      }
      return Buffer.concat(parts);
    },
    hasMore: () => held.length > 0 || socket.readableLength > 0,
  };
}

/** Waits until the socket has bytes. Throws when it ends, or when nothing arrives in time. */
async function untilReadable(socket: Socket, withinMs: number): Promise<void> {
  if (socket.readableEnded || socket.destroyed) throw closed();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const fail = (): void => reject(closed());
  const late = setTimeout(
    () => reject(new ImapError('timeout', 'The server did not answer in time.')),
    withinMs,
  );
  socket.once('readable', resolve).once('end', fail).once('close', fail);
  try {
    await promise;
  } finally {
    clearTimeout(late);
    socket.off('readable', resolve).off('end', fail).off('close', fail);
  }
  // The end of a socket is a readable event too.
  if (socket.readableLength === 0 && (socket.readableEnded || socket.destroyed)) throw closed();
}

function closed(): ImapError {
  return new ImapError('closed', 'The server closed the connection.');
}
