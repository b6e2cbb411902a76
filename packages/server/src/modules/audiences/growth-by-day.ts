import type { Tx } from '../../platform/db/statements.ts';
import { type DayRow, listAllDayRows } from './reads.ts';
import { dayOf } from './memberships.ts';

/** `day` is in UTC. */
export type GrowthDay = { day: string; joined: number; left: number; members: number };

const GROWTH_DAYS = 30;
const DAY_MS = 86_400_000;

/** Returns the first day of the growth chart: the day of creation for an audience younger than the period. */
export function firstDay(createdAt: Date, now: Date): string {
  const first = Math.max(createdAt.getTime(), now.getTime() - (GROWTH_DAYS - 1) * DAY_MS);
  return dayOf(new Date(Math.min(first, now.getTime())));
}

/** Lists the growth of all audiences of a project by audience id, one entry per day, ending today. */
export async function listGrowth(
  tx: Tx,
  {
    projectId,
    now,
    audiences,
  }: { projectId: number; now: Date; audiences: { id: string; createdAt: Date }[] },
): Promise<Map<string, GrowthDay[]>> {
  const from = dayOf(new Date(now.getTime() - (GROWTH_DAYS - 1) * DAY_MS));
  const rows = Map.groupBy(await listAllDayRows(tx, { projectId, from }), (row) => row.audience_id);
  return new Map(
    audiences.map(({ id, createdAt }) => [
      id,
      growthOf(rows.get(id) ?? [], firstDay(createdAt, now), dayOf(now)),
    ]),
  );
}

/** Fills in days without changes. They have no row and end with as many members as the day before. */
export function growthOf(rows: DayRow[], from: string, to: string): GrowthDay[] {
  const byDay = new Map(rows.map((row) => [row.day, row]));
  let members = rows.findLast(({ day }) => day < from)?.members ?? 0;
  const days: GrowthDay[] = [];
  for (let at = Date.parse(from); at <= Date.parse(to); at += DAY_MS) {
    const day = dayOf(new Date(at));
    const row = byDay.get(day);
    members = row?.members ?? members;
    days.push({ day, joined: row?.joined ?? 0, left: row?.departed ?? 0, members });
  }
  return days;
}
