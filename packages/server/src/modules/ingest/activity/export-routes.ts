import type { Erasure } from '@beckon/contract/dashboard';
import { routesFor, sendPieces } from '../../workspace/index.ts';
import type { Database } from '../../../platform/db/database.ts';
import { Fault } from '../../../platform/fault.ts';
import { parseInstant } from '../../../platform/time/time-text.ts';
import { countStream, readStream } from './read-stream.ts';
import { cursorOfTime, readStreamFilter, type StreamItem } from './stream.ts';

const { route } = routesFor();

const LIMIT = 50;
const COUNTED_MAX = 10_000;
const EXPORT_PAGE = 1_000;
const ERASURES = 'type:user_erased';

/** Lists erasures, and exports the activity stream as a file. */
export const streamExportRoutes = [
  route('GET /projects/:project/erasures', {
    needs: 'admin',
    isHeavy: true,
    async handle({ db }, { projectId, query }) {
      const filter = readStreamFilter(ERASURES);
      const limit = query.limit ?? LIMIT;
      const page = await readStream(db, { projectId, filter, after: null, before: query.cursor, limit });
      const { count, isAll } = await countStream(db, { projectId, filter, most: COUNTED_MAX });
      return {
        data: page.items.map(toErasure),
        meta: {
          pagination: { total: count, offset: 0, limit },
          cursor: page.more ? page.cursor : null,
          ...(isAll ? {} : { at_least: true as const }),
        },
      };
    },
  }),
  route('GET /projects/:project/stream-export', {
    needs: 'admin',
    isHeavy: true,
    slot: 'statement',
    audit: 'activity.export',
    async handle({ db }, { projectId, query, reply }) {
      const filter = readStreamFilter(query.filter ?? '');
      const since = query.since === undefined ? new Date(0) : readSince(query.since);
      const file = { name: `beckon-stream-${projectId}.ndjson`, type: 'application/x-ndjson; charset=utf-8' };
      return sendPieces(reply, file, lines(db, { projectId, filter, since }));
    },
  }),
];

function toErasure(item: StreamItem): Erasure {
  const removed = 'removed' in item && typeof item.removed === 'object' ? item.removed : {};
  return { id: item.id, at: item.at, removed: (removed ?? {}) as Record<string, number> };
}

function readSince(text: string): Date {
  const at = parseInstant(text);
  if (!Number.isNaN(at)) return new Date(at);
  const message = 'since must be a time such as 2026-01-15T12:00:00Z';
  throw new Fault('validation_failed', { details: [{ message, field: 'since' }] });
}

type StreamExportQuery = { projectId: number; filter: ReturnType<typeof readStreamFilter>; since: Date };

async function* lines(
  db: Database,
  { since, ...query }: StreamExportQuery,
): AsyncGenerator<string, void, void> {
  let after = cursorOfTime(since);
  for (let more = true; more;) {
    const page = await readStream(db, { ...query, after, limit: EXPORT_PAGE });
    yield page.items.map((item) => `${JSON.stringify(item)}\n`).join('');
    after = page.cursor ?? after;
    ({ more } = page);
  }
}
