import { setTimersEarlier } from '../../platform/locks/timers.ts';
import { lockTimer } from '../../platform/locks/store.ts';
import type { TimerKind } from '../../platform/locks/store.ts';
import { listLateWebhookProjects } from '../webhooks/index.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Tx } from '../../platform/db/statements.ts';
import type { Log } from '../../platform/log.ts';
import { nextMoment } from '../rules/index.ts';

type TimersDb = Pick<Database, 'query' | 'prepared' | 'transaction'>;

/** Repairs alarms that do not match the due work. Each one found is a defect, so it is also logged. */
export async function repairTimers({ db, log }: { db: TimersDb; log: Log }): Promise<void> {
  const projects = await sweepTimers(db);
  if (projects > 0) log.warn({ projects }, 'alarms.repaired');
}

/**
 * Sets alarms that are later than the first due time of their project, and returns how many there were. The transaction that stores
 * a due time also sets the project's alarm. If a defect or a manual change in the database misses that, the work would wait until
 * the next due time of the project.
 */
export async function sweepTimers(db: TimersDb): Promise<number> {
  const late = new Map<string, { projectId: number; work: TimerKind }>();
  for (const source of SOURCES) {
    for (const projectId of await listLate(db, source))
      late.set(`${source.work} ${projectId}`, { projectId, work: source.work });
  }
  for (const projectId of await listLateWebhookProjects(db))
    late.set(`tell ${projectId}`, { projectId, work: 'webhooks' });
  for (const { projectId, work } of late.values()) {
    await db.transaction(async (tx) => {
      await lockTimer(tx, projectId, work);
      const nextAt = await nextMoment(tx, projectId, work);
      if (nextAt) await setTimersEarlier(tx, work, [{ projectId, nextAt }]);
    });
  }
  return late.size;
}

type Source = { work: TimerKind; table: string; column: string; where: string };

/**
 * The tables that store due times. Each has an index that begins with the project and the time, except that of enrollments. A project has
 * at most one running enrollment per rule, and their index begins with the project.
 */
const SOURCES: Source[] = [
  { work: 'process', table: 'audience_timer', column: 'at', where: 'true' },
  { work: 'process', table: 'rule_timer', column: 'at', where: 'true' },
  {
    work: 'process',
    table: 'run',
    column: 'next_at',
    where: `x.state = 'active' AND x.next_at IS NOT NULL`,
  },
  { work: 'process', table: 'rule_enrollment', column: 'next_at', where: `x.state = 'running'` },
  { work: 'send', table: 'draft', column: 'due_at', where: 'x.due_at IS NOT NULL' },
];

/** The sender sleeps on purpose while a project is paused or suspended, and while its throttle has no token. */
const sendingOf = (of: string): string => `JOIN beckon.project_settings s ON s.project_id = ${of}.project_id
           JOIN beckon.send_lock u ON u.project_id = ${of}.project_id
           JOIN beckon.project p ON p.project_id = ${of}.project_id`;
const NOT_ON_PURPOSE = `AND p.suspended_at IS NULL AND s.settings ->> 'paused' IS DISTINCT FROM 'true'
             AND (t.next_at IS NULL OR u.tokens IS NULL OR u.tokens >= 1)`;

/**
 * Lists projects with a late alarm. It reads tables of several modules, skips from project to project by the index, and reads one time of
 * each.
 */
async function listLate(tx: Tx, { work, table, column, where }: Source): Promise<number[]> {
  const from = `FROM beckon.${table} x WHERE ${where}`;
  const conditions = `WHERE (t.next_at IS NULL OR t.next_at + t.ahead_ms * interval '1 millisecond' > first.at) ${work === 'send' ? NOT_ON_PURPOSE : ''}`;
  // Where tables are distributed, each node reads the times of all its projects, because no statement skips from node to node.
  if (tx.isDistributed) {
    const late = await tx.query<{ project_id: number }>(
      `SELECT t.project_id FROM (SELECT x.project_id, min(x.${column}) AS at ${from} GROUP BY x.project_id) first
       JOIN beckon.project_timer t ON t.project_id = first.project_id AND t.work = $1
       ${work === 'send' ? sendingOf('t') : ''} ${conditions}`,
      [work],
    );
    return late.map((row) => row.project_id);
  }
  const rows = await tx.prepared<{ project_id: number }>({
    name: `sweep.late_${table}`,
    text: `WITH RECURSIVE place(project_id) AS (
             (SELECT x.project_id ${from} ORDER BY x.project_id LIMIT 1)
             UNION ALL
             SELECT (SELECT x.project_id ${from} AND x.project_id > place.project_id ORDER BY x.project_id LIMIT 1)
             FROM place WHERE place.project_id IS NOT NULL
           )
           SELECT place.project_id FROM place
           JOIN beckon.project_timer t ON t.project_id = place.project_id AND t.work = $1
           CROSS JOIN LATERAL (
             SELECT x.${column} AS at ${from} AND x.project_id = place.project_id ORDER BY x.${column} LIMIT 1
           ) first
           ${work === 'send' ? sendingOf('place') : ''}
           ${conditions}`,
    values: [work],
  });
  return rows.map((row) => row.project_id);
}
