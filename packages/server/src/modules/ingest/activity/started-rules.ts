import type { Tx } from '../../../platform/db/statements.ts';
import type { StreamItem } from './stream.ts';

export type StartedRule = { id: string; name: string };

/** The newest runs of a page. A page has at most 500 items, and few events start several rules. */
const RUNS_MAX = 1_000;

/** Returns the rules that each event started, by the id of the event. Reads tables of another module, `run` and `rule`. */
export async function findStartedRules(
  tx: Tx,
  { projectId, items }: { projectId: number; items: StreamItem[] },
): Promise<Map<string, StartedRule[]>> {
  const events = items.filter((item) => item.type === 'event');
  if (events.length === 0) return new Map();
  const users = [...new Set(events.map((event) => String(event.external_user_id)))];
  const rows = await tx.query<StartedRule & { event_id: string }>(
    `SELECT n.event_id, r.id, r.name FROM (
       SELECT n.anchor ->> 'id' AS event_id, n.rule_id FROM beckon.run n
       WHERE n.project_id = $1 AND n.external_user_id = ANY ($2::text[]) AND n.anchor ->> 'kind' = 'event'
         AND n.anchor ->> 'id' = ANY ($3::text[])
       ORDER BY n.enrolled_at DESC LIMIT ${RUNS_MAX}
     ) n JOIN beckon.rule r ON r.project_id = $1 AND r.id = n.rule_id ORDER BY r.name`,
    [projectId, users, events.map(({ id }) => id)],
  );
  const byEvent = Map.groupBy(rows, ({ event_id: eventId }) => eventId);
  return new Map(
    [...byEvent].map(([id, rules]) => [id, rules.map(({ id: rule, name }) => ({ id: rule, name }))]),
  );
}
