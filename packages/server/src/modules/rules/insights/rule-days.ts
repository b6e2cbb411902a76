import type { RuleDay } from '@beckon/contract/dashboard';
import { WAS_SENT } from '../../sending/index.ts';
import { smallestIdAt } from '../../../platform/ids.ts';
import type { Tx } from '../../../platform/db/statements.ts';

type RuleDaysQuery = { projectId: number; ruleId: string | null; since: number; now: number; zone: string };

/** The longest time after an enrollment at which a goal still counts. */
const GOAL_WITHIN_MS = 14 * 86_400_000;
/** The limit for each kind, newest first. For a project with more in this period, the earliest days are incomplete. */
const ROWS_MAX = 1_000_000;

/**
 * Returns each day from `since` to today for every rule with data, by rule id. Ids of runs and drafts start with their time. Reads tables
 * of other modules: `run`, `draft`, `email` and `outcome`.
 */
export async function countRuleDays(tx: Tx, query: RuleDaysQuery): Promise<Map<string, RuleDay[]>> {
  const { projectId, ruleId, since, now, zone } = query;
  const rows = await tx.query<{ rule_id: string; kind: keyof Omit<RuleDay, 'day'>; day: string; n: number }>(
    `WITH happened AS (
       (SELECT rule_id, 'enrolled' AS kind, enrolled_at AS at FROM beckon.run
        WHERE project_id = $1 AND id >= $4::uuid AND enrolled_at >= $3 AND ($2::uuid IS NULL OR rule_id = $2)
        ORDER BY id DESC LIMIT ${ROWS_MAX})
       UNION ALL
       (SELECT rule_id, 'goal', converted_at FROM beckon.run
        WHERE project_id = $1 AND id >= $5::uuid AND converted_at >= $3 AND ($2::uuid IS NULL OR rule_id = $2)
        ORDER BY id DESC LIMIT ${ROWS_MAX})
       UNION ALL
       (SELECT rule_id, 'drafted', created_at FROM beckon.draft
        WHERE project_id = $1 AND created_at >= $3 AND ($2::uuid IS NULL OR rule_id = $2)
        ORDER BY created_at DESC, id DESC LIMIT ${ROWS_MAX})
       UNION ALL
       (SELECT m.rule_id, 'sent', m.claimed_at FROM beckon.email m
        WHERE m.project_id = $1 AND m.claimed_at >= $3 AND ${WAS_SENT} AND ($2::uuid IS NULL OR m.rule_id = $2)
        ORDER BY m.claimed_at DESC, m.id DESC LIMIT ${ROWS_MAX})
     )
     SELECT rule_id, kind, to_char(at AT TIME ZONE $6, 'YYYY-MM-DD') AS day, count(*) AS n
     FROM happened GROUP BY 1, 2, 3`,
    [
      projectId,
      ruleId,
      new Date(since),
      smallestIdAt(since - CLOCKS_APART_MS),
      smallestIdAt(since - GOAL_WITHIN_MS - CLOCKS_APART_MS),
      zone,
    ],
  );
  const days = daysOf({ since, now, zone });
  const found = new Map<string, Map<string, RuleDay>>();
  for (const { rule_id, kind, day, n } of rows) {
    const byDay = found.get(rule_id) ?? new Map(days.map((date) => [date, emptyDay(date)]));
    found.set(rule_id, byDay);
    const at = byDay.get(day);
    if (at) at[kind] = n;
  }
  return new Map([...found].map(([id, byDay]) => [id, [...byDay.values()]]));
}

/** An id is created shortly before its row, possibly with a clock that is slightly behind. */
const CLOCKS_APART_MS = 60_000;

/** Returns the days in the project's time zone, oldest first. */
export function daysOf({ since, now, zone }: Pick<RuleDaysQuery, 'since' | 'now' | 'zone'>): string[] {
  const dayOf = (ms: number): Temporal.PlainDate =>
    Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone).toPlainDate();
  const [last, days] = [dayOf(now), [] as string[]];
  for (let day = dayOf(since); Temporal.PlainDate.compare(day, last) <= 0; day = day.add({ days: 1 }))
    days.push(day.toString());
  return days;
}

export function emptyDay(day: string): RuleDay {
  return { day, enrolled: 0, drafted: 0, sent: 0, goal: 0 };
}

/** Returns the project's midnight this many days ago, counting today. */
export function sinceDays(days: number, { now, zone }: Pick<RuleDaysQuery, 'now' | 'zone'>): number {
  const today = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(zone).startOfDay();
  return today.subtract({ days: days - 1 }).epochMilliseconds;
}
