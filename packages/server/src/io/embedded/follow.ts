import { resolve } from 'node:path';
import { EmbeddedFailure } from './failure.ts';
import { readFacts } from './facts.ts';
import type { EmbeddedConnection } from './open-embedded.ts';
import { readPidFile } from './postmaster.ts';

/**
 * Where PostgreSQL of this directory listens, as its files say: of the living postmaster its own, which is right about the port; where
 * there is none, the last one known, which refuses. For who asks again at each connection, and has no share in keeping it alive.
 */
export function followEmbedded(dataDir: string): EmbeddedConnection {
  const facts = readFacts(dataDir);
  const port = (facts && readPidFile(resolve(dataDir, facts.data))?.port) || facts?.port;
  if (!facts || !port) {
    throw new EmbeddedFailure('not_known', `The address of PostgreSQL of ${dataDir} is unknown`);
  }
  const { user, password, database } = facts;
  return { host: '127.0.0.1', port, user, password, database, ssl: false };
}
