import type { Tx } from '../../io/db/index.ts';
import { unknownAudience } from './audience.ts';
import { listCurrent, newest, seen } from './current.ts';
import { findAudience } from './find-audience.ts';
import { type ListedAudience, toListed } from './list-audiences.ts';
import type { Member } from './list-members.ts';
import { type DayRow, listDayRows, listMemberRows } from './reads.ts';
import { dayOf } from './standings.ts';

export type GrowthDay = { day: string; joined: number; left: number; members: number };
export type ShownAudience = ListedAudience & {
  definition: unknown;
  /** A day each (UTC), today the last, from its first day on. */
  growth: GrowthDay[];
  sample: Member[];
};

const GROWTH_DAYS = 30;
const SAMPLE_MEMBERS = 20;
const DAY_MS = 86_400_000;

export async function showAudience(
  tx: Tx,
  { projectId, reference, now }: { projectId: number; reference: string; now: Date },
): Promise<ShownAudience> {
  const { id } = await findAudience(tx, { projectId, reference });
  const all = await listCurrent(tx, projectId);
  const audience = all.find((one) => one.id === id);
  if (!audience) throw unknownAudience(reference);
  const first = Math.max(audience.createdAt.getTime(), now.getTime() - (GROWTH_DAYS - 1) * DAY_MS);
  const from = dayOf(new Date(Math.min(first, now.getTime())));
  const { edition } = seen(audience);
  return {
    ...toListed(audience, all),
    definition: newest(audience).definition,
    growth: growthOf(await listDayRows(tx, { projectId, audienceId: id, from }), from, dayOf(now)),
    sample: await listMemberRows(tx, { projectId, edition, after: null, limit: SAMPLE_MEMBERS }),
  };
}

/** A day on which nobody came or went has no row: it ends with as many members as the one before. */
function growthOf(rows: DayRow[], from: string, to: string): GrowthDay[] {
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
