import type { Erasure } from '@beckon/contract/dashboard';
import { Type } from 'typebox';
import { getSettings, routesFor, sendPieces } from '../../workspace/index.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { Fault } from '../../../platform/fault.ts';
import { parseInstant } from '../../../platform/time/time-text.ts';
import {
  countStream,
  cursorOfTime,
  readStream,
  readStreamFilter,
  type StreamItem,
} from '../../ingest/index.ts';

const { route } = routesFor();

const LIMIT = 50;
const LIMIT_MAX = 200;
const COUNTED_MAX = 10_000;
const EXPORT_PAGE = 1_000;
const ERASURES = 'type:user_erased';

export const dataRoutes = [
  route('GET /projects/:project/data', {
    needs: 'viewer',
    async handle({ db }, { projectId }) {
      const { texts } = await getSettings(db, projectId);
      const oldest = await findOldest(db, projectId);
      const kept = (setting: keyof typeof texts, at: Date | null) => ({
        setting,
        period: texts[setting],
        oldest_at: at?.toISOString() ?? null,
      });
      const retention = [
        kept('keep_events', oldest.events),
        kept('keep_stream', oldest.stream),
        kept('keep_emails', oldest.emails),
        kept('keep_dead', oldest.dead),
      ];
      return { data: { retention, erasures_waiting: await countErasuresWaiting(db, projectId) } };
    },
  }),
  route('GET /projects/:project/erasures', {
    needs: 'admin',
    isHeavy: true,
    query: Type.Object({
      cursor: Type.Optional(Type.String({ maxLength: 200 })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMIT_MAX })),
    }),
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
    query: Type.Object({
      filter: Type.Optional(Type.String({ maxLength: 1_000 })),
      since: Type.Optional(Type.String({ maxLength: 100 })),
    }),
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

/** The oldest stored data of each kind with a configurable retention. */
type Oldest = { events: Date | null; stream: Date | null; dead: Date | null; emails: Date | null };

/** Reads tables of three other modules. Each has an index on project and time, except for `dead_letter`, which has few rows. */
async function findOldest(tx: Tx, projectId: number): Promise<Oldest> {
  const [found] = await tx.query<Oldest>(
    `SELECT (SELECT min(received_at) FROM beckon.event WHERE project_id = $1) AS events,
            least((SELECT min(at) FROM beckon.activity WHERE project_id = $1),
                  (SELECT min(at) FROM beckon.ingest_log WHERE project_id = $1)) AS stream,
            (SELECT min(dead_lettered_at) FROM beckon.dead_letter WHERE project_id = $1) AS dead,
            (SELECT min(frozen_at) FROM beckon.email_mime WHERE project_id = $1) AS emails`,
    [projectId],
  );
  return found ?? { events: null, stream: null, dead: null, emails: null };
}

/** Counts the erasures of a project for which records to drop may still wait. Reads a table of the users module. */
async function countErasuresWaiting(tx: Tx, projectId: number): Promise<number> {
  const [counted] = await tx.query<{ count: number }>(
    `SELECT count(*) AS count FROM beckon.erasure WHERE project_id = $1`,
    [projectId],
  );
  return counted?.count ?? 0;
}
