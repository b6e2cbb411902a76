import type { Database } from '../../../packages/server/src/platform/db/database.ts';
import type { Role } from '../fault.ts';
import type { Entry } from '../journal.ts';
import { followJournal } from './follow.ts';
import { connectionsAt } from './sockets.ts';

/** Counts a process's work under way, from the load's journal, the database and its open connections. */
export type InFlight = (process: ProcessRef) => Promise<number>;
export type ProcessRef = { role: Role; login: string; url: string | null; pid: number };
export type InFlightDeps = {
  db: Database;
  loadJournal: string;
  ports: { smtp: number; hooks: number; mailIn: number };
};

export function createInFlight({ db, loadJournal, ports }: InFlightDeps): InFlight {
  const entries = followJournal(loadJournal);
  const open = new Map<string, string>();

  function requestsTo(url: string): number {
    for (const entry of entries()) noteRequest(open, entry);
    return [...open.values()].filter((to) => to === url).length;
  }

  return async ({ role, login, url, pid }) => {
    if (role === 'api' && url !== null) return requestsTo(url);
    try {
      const busy = await count(
        db,
        `SELECT count(*) AS n FROM pg_stat_activity WHERE usename = $1 AND state IN ('active', 'idle in transaction')`,
        [login],
      );
      if (role === 'mail-in') return busy + connectionsAt(pid, ports.mailIn);
      const submitting = await count(db, `SELECT count(*) AS n FROM beckon.email WHERE state = 'submitting'`);
      const delivering = await count(
        db,
        `SELECT count(*) AS n FROM beckon.webhook_delivery WHERE state = 'delivering'`,
      );
      const emails = Math.min(submitting, connectionsAt(pid, ports.smtp));
      return busy + emails + Math.min(delivering, connectionsAt(pid, ports.hooks));
    } catch {
      // The count is unknown while the database is down.
      return 0;
    }
  };
}

function noteRequest(open: Map<string, string>, entry: Entry): void {
  if (entry.kind === 'begin') open.set(entry.id, entry.to);
  if (entry.kind === 'end' || entry.kind === 'lost') open.delete(entry.id);
}

async function count(db: Database, sql: string, values: unknown[] = []): Promise<number> {
  const rows = await db.query<{ n: number }>(sql, values);
  return rows[0]?.n ?? 0;
}
