import type { Found, SearchResult } from '@beckon/contract/dashboard';
import { isCanceled } from '../../platform/db/errors.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { shippedEmailNames } from '../rendering/index.ts';
import { findEmails, findNamed, findUsers, findUsersByName, type SearchQuery } from './reads.ts';

/** Matches of each kind. */
const EACH_MAX = 5;
/** The database ends a statement after this long. The names of 300,000 users took 0.4 to 1.0 s on two busy cores. */
const WITHIN_MS = 1_000;

/**
 * Finds users by id, email address and name, and rules, emails, audiences, templates, events and webhook endpoints by name. The beginning of
 * an id or address suffices; names and subjects match anywhere and in any case.
 */
export async function search(
  db: Pick<Database, 'transaction'>,
  { projectId, text, mayReadWebhooks }: { projectId: number; text: string; mayReadWebhooks: boolean },
): Promise<SearchResult> {
  const query: SearchQuery = {
    projectId,
    text,
    pattern: `%${likeText(text)}%`,
    prefix: `${likeText(text)}%`,
    mayReadWebhooks,
    limit: EACH_MAX,
  };
  const found: Found[] = shippedEmailNames()
    .filter((name) => name.toLowerCase().includes(text.toLowerCase()))
    .map((name) => ({ kind: 'template', id: name, label: name, detail: null }));
  let isPartial = false;
  for (const find of [findUsers, findUsersByName, findNamed, findEmails]) {
    const rows = await inTime(db, (tx) => find(tx, query));
    if (rows === null) isPartial = true;
    else found.push(...rows);
  }
  return { found: firstOfEach(found), partial: isPartial };
}

/** Returns null if a statement took too long. */
async function inTime<T>(db: Pick<Database, 'transaction'>, find: (tx: Tx) => Promise<T>): Promise<T | null> {
  try {
    return await db.transaction(async (tx) => {
      await tx.query(`SET LOCAL statement_timeout = ${WITHIN_MS}`);
      return find(tx);
    });
  } catch (error) {
    if (isCanceled(error)) return null;
    throw error;
  }
}

/** Keeps the first matches of each kind, each once. A user may be found by id and by name, and a shipped template may have versions. */
function firstOfEach(found: Found[]): Found[] {
  const matches = Map.groupBy(found, ({ kind, id }) => `${kind} ${id}`);
  const unique = [...matches.values()].flatMap((same) => same.slice(0, 1));
  return [...Map.groupBy(unique, ({ kind }) => kind).values()].flatMap((group) => group.slice(0, EACH_MAX));
}

function likeText(text: string): string {
  return text.replaceAll(/[\\%_]/g, String.raw`\$&`);
}
