import { randomBytes } from 'node:crypto';
import {
  chownSync,
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { codeOf, EmbeddedFailure } from './failure.ts';
import { draftOf } from './sweep-partials.ts';

/** `<DATA_DIR>/postgres.json`, mode 0600: the facts that must survive a restart of Node.js. */
export type ClusterFacts = {
  user: string;
  password: string;
  database: string;
  /** The cluster, relative to DATA_DIR. Absolute if it had to be placed elsewhere, so that a moved DATA_DIR still finds it. */
  data: string;
  /** Set since the first successful start, so it proves that a cluster existed. */
  port?: number;
};

/** The owner of files in DATA_DIR. Set only for root, whose own files would be inaccessible to the owner of the folder. */
export type FileOwner = { uid: number; gid: number } | undefined;

const PASSWORD_BYTES = 24;

export function readFacts(dataDir: string): ClusterFacts | undefined {
  const path = factsPath(dataDir);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return JSON.parse(text) as ClusterFacts;
  } catch (error) {
    throw new EmbeddedFailure('not_known', `${path} is not JSON. Restore it from a backup`, error);
  }
}

/** `name` names the role and the database. */
type NewFacts = { name: string; data: string; owner: FileOwner };

/**
 * Creates the password before the cluster. Concurrent starters first agree on the file (a link is created once, and completely), so it does
 * not matter whose initdb succeeds.
 */
export function createFacts(dataDir: string, { name, data, owner }: NewFacts): ClusterFacts {
  const password = randomBytes(PASSWORD_BYTES).toString('base64url');
  const facts: ClusterFacts = { user: name, password, database: name, data };
  const draft = writeDraft(dataDir, facts, owner);
  try {
    linkSync(draft, factsPath(dataDir));
    return facts;
  } catch (error) {
    const others = codeOf(error) === 'EEXIST' ? readFacts(dataDir) : undefined;
    if (!others) throw error;
    return others;
  } finally {
    rmSync(draft, { force: true });
  }
}

export function savePort(dataDir: string, port: number, owner: FileOwner): void {
  const facts = readFacts(dataDir);
  if (!facts || facts.port === port) return;
  renameSync(writeDraft(dataDir, { ...facts, port }, owner), factsPath(dataDir));
}

/** Used with facts from a backup. */
export function replaceFacts(dataDir: string, facts: ClusterFacts, owner: FileOwner): void {
  renameSync(writeDraft(dataDir, facts, owner), factsPath(dataDir));
}

function factsPath(dataDir: string): string {
  return join(dataDir, 'postgres.json');
}

function writeDraft(dataDir: string, facts: ClusterFacts, owner: FileOwner): string {
  const path = draftOf(factsPath(dataDir));
  const file = openSync(path, 'wx', 0o600);
  try {
    writeSync(file, `${JSON.stringify(facts, null, 2)}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  if (owner) chownSync(path, owner.uid, owner.gid);
  return path;
}
