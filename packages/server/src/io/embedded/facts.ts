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
import { draftOf } from './sweep-drafts.ts';

/** `<DATA_DIR>/postgres.json`, mode 0600: what a restart of Node must still know. */
export type Facts = {
  user: string;
  password: string;
  database: string;
  /** The cluster, from DATA_DIR; absolute where it had to go to another place, so that a moved DATA_DIR still finds it. */
  data: string;
  /** Known since the first start that succeeded: a cluster has existed. */
  port?: number;
};

/** Whom files in DATA_DIR belong to; given only to root, whose files would lock the folder's owner out. */
export type Owner = { uid: number; gid: number } | undefined;

const USER = 'beckon';
const DATABASE = 'beckon';
const PASSWORD_BYTES = 24;

export function readFacts(dataDir: string): Facts | undefined {
  const path = factsPath(dataDir);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return JSON.parse(text) as Facts;
  } catch (error) {
    throw new EmbeddedFailure('not_known', `${path} is not JSON. Restore it from a backup`, error);
  }
}

/**
 * The password exists before the cluster does: racing starters agree on the file first (a link is made once, and whole),
 * so it does not matter whose initdb wins.
 */
export function createFacts(dataDir: string, options: { data: string; owner: Owner }): Facts {
  const password = randomBytes(PASSWORD_BYTES).toString('base64url');
  const facts: Facts = { user: USER, password, database: DATABASE, data: options.data };
  const draft = writeDraft(dataDir, facts, options.owner);
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

export function savePort(dataDir: string, port: number, owner: Owner): void {
  const facts = readFacts(dataDir);
  if (!facts || facts.port === port) return;
  renameSync(writeDraft(dataDir, { ...facts, port }, owner), factsPath(dataDir));
}

/** For who knows them from a backup. */
export function replaceFacts(dataDir: string, facts: Facts, owner: Owner): void {
  renameSync(writeDraft(dataDir, facts, owner), factsPath(dataDir));
}

function factsPath(dataDir: string): string {
  return join(dataDir, 'postgres.json');
}

function writeDraft(dataDir: string, facts: Facts, owner: Owner): string {
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
