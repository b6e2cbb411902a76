import { once } from 'node:events';
import type { FastifyReply } from 'fastify';
import type { Raw } from '@beckon/contract/dashboard';
import { SENT } from './route.ts';

export type FileSent = { name: string; type: string };

/** Sends a file piece by piece, as fast as the browser reads it. A client that disconnects ends it. */
export async function sendPieces(
  reply: FastifyReply,
  { name, type }: FileSent,
  pieces: AsyncIterable<string | Uint8Array> | (string | Uint8Array)[],
): Promise<Raw> {
  reply.hijack();
  const response = reply.raw;
  response.writeHead(200, {
    'Content-Type': type,
    'Content-Disposition': `attachment; filename="${name}"`,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  });
  try {
    for await (const piece of pieces) {
      if (response.destroyed) return SENT;
      if (!response.write(piece)) await Promise.race([once(response, 'drain'), once(response, 'close')]);
    }
    response.end();
  } catch (error) {
    // The client left, and its statement was canceled.
    if (response.destroyed) return SENT;
    // Half of a file must not look like all of it.
    response.destroy();
    throw error;
  }
  return SENT;
}
