import { INGEST_QUEUE_MAX_RECORDS } from '@beckon/contract';
import {
  countWaiting,
  listDead,
  listKeys,
  listWarnings,
  readRequestFilter,
  readStream,
} from '../ingest/index.ts';
import { isAccepted, type MailSettings, showDomains } from '../sending/index.ts';
import { listEndpoints } from '../webhooks/index.ts';
import { findProject, getSettings } from '../workspace/index.ts';
import type { Database } from '../../platform/db/database.ts';
import { type DatabaseFacts, databaseFacts, storageFacts } from '../../platform/db/facts.ts';
import { listTimers } from '../../platform/locks/timers.ts';
import { iso } from '../../platform/time/clock.ts';
import type { Tx } from '../../platform/db/statements.ts';

type SystemView = DatabaseFacts & {
  at: string;
  sending_enabled: boolean;
  clockOffsetMs: number | null;
  queue: { live: number; bulk: number; dead_letters: number; oldest_ms: number; max: number };
  jobs: { name: string; next_at: string | null; late_ms: number }[];
  webhooks: { pending: number; delivering: number };
};

/** Returns the state of the engine as far as it concerns one project, and the facts about its database. */
export async function showSystem(
  db: Pick<Database, 'query' | 'prepared' | 'clock' | 'offsetMs'>,
  projectId: number,
): Promise<SystemView> {
  const now = db.clock.now();
  return {
    ...(await databaseFacts(db)),
    at: iso(now),
    sending_enabled: await isAccepted(db),
    clockOffsetMs: db.offsetMs(),
    queue: { ...(await countWaiting(db, projectId)), max: INGEST_QUEUE_MAX_RECORDS },
    jobs: (await listTimers(db, projectId)).map(({ work, nextAt }) => ({
      name: work,
      next_at: nextAt?.toISOString() ?? null,
      late_ms: nextAt === null ? 0 : Math.max(0, now - nextAt.getTime()),
    })),
    webhooks: await countWebhooks(db, projectId),
  };
}

type Db = Pick<Database, 'query' | 'prepared' | 'transaction' | 'clock' | 'offsetMs'>;

/** These settings identify people or contain their addresses. For support it is enough to know that they are set. */
const PERSONAL = new Set([
  'from_name',
  'from_address',
  'reply_to',
  'reply_forward_to',
  'postal_address',
  'footer',
  'team_addresses',
  'topics',
]);
const REQUESTS_MAX = 500;

/**
 * Returns the numbers, states and settings of an installation and one of its projects for support. It contains no secrets, no user data,
 * and no addresses except the names of domains and hosts.
 */
export async function supportBundle(
  db: Db,
  { projectId, mail }: { projectId: number; mail: MailSettings },
): Promise<object> {
  const { livemode } = await findProject(db, String(projectId));
  const { texts } = await getSettings(db, projectId);
  const requests = await readStream(db, {
    projectId,
    filter: readRequestFilter(''),
    after: null,
    limit: REQUESTS_MAX,
  });
  return {
    project: { id: projectId, livemode },
    system: { ...(await showSystem(db, projectId)), ...(await storageFacts(db)) },
    settings: Object.fromEntries(
      Object.entries(texts).map(([name, text]) => [name, redactedSetting(name, text)]),
    ),
    keys: (await listKeys(db, projectId)).map(({ created_at, last_used_at, revoked_at, client }) => ({
      created_at,
      last_used_at,
      revoked_at,
      client,
    })),
    domains: (await showDomains(db, projectId, mail)).map(({ domain, records }) => ({
      name: domain.name,
      state: domain.state,
      paused: domain.pausedAt !== null,
      records: records.map(({ kind, required, finding }) => ({
        kind,
        required,
        status: finding?.verdict ?? 'unchecked',
      })),
    })),
    endpoints: (await listEndpoints(db, projectId)).map(({ endpoint, health }) => ({
      host: new URL(endpoint.url).host,
      types: endpoint.types,
      disabled_reason: endpoint.disabledReason,
      failures: health.failures,
      windows: health.windows,
    })),
    warnings: await listWarnings(db, projectId),
    dead_letters: (await listDead(db, projectId)).map(({ seq, priority, kind, dead_lettered_at }) => ({
      seq,
      priority,
      kind,
      dead_lettered_at,
    })),
    requests: requests.items,
  };
}

function redactedSetting(name: string, text: string): string {
  if (!PERSONAL.has(name)) return text;
  return text === '' || text === 'off' ? 'not set' : 'set';
}

/** Counts pending deliveries and those in progress. Reads a table of the webhooks module. */
async function countWebhooks(tx: Tx, projectId: number): Promise<{ pending: number; delivering: number }> {
  const rows = await tx.query<{ state: string; count: number }>(
    `SELECT state, count(*) AS count FROM beckon.webhook_delivery
     WHERE project_id = $1 AND next_at IS NOT NULL GROUP BY state`,
    [projectId],
  );
  const of = (state: string): number => rows.find((row) => row.state === state)?.count ?? 0;
  return { pending: of('pending'), delivering: of('delivering') };
}
