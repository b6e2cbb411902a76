import { resolve } from 'node:path';
import { EmbeddedFailure } from './failure.ts';
import { readFacts } from './facts.ts';
import { readPidFile } from './postmaster.ts';

/** The address of PostgreSQL, in the form that `pg` accepts. */
export type EmbeddedConnection = {
  host: string;
  port: number;
  user: string;
  password: string;
  database: string;
  ssl: false;
};

/**
 * Returns the address of this directory's PostgreSQL from its files. The pid file of a running postmaster has the right port. Otherwise it
 * is the last known address, which refuses connections. For a caller that looks it up for each connection, and does not keep PostgreSQL
 * running.
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
