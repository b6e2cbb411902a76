import type { AudienceDay, AudienceDetails, AudienceListed } from '@beckon/contract/dashboard';
import { findAudience, unknownAudience } from './audience.ts';
import {
  type CurrentAudience,
  listCurrent,
  newestVersion,
  visibleVersion,
  sentenceFor,
} from './current-versions.ts';
import { dayOf } from './memberships.ts';
import { type GrowthDayRow, listAllDayRows, listDayRows, listMemberRows } from './reads.ts';
import type { Tx } from '../../platform/db/statements.ts';

/** An audience without the figures that need further reads. */
export type ListedAudience = Omit<AudienceListed, 'growth' | 'used_by'>;

/** Lists the audiences of a project by name. */
export async function listAudiences(tx: Tx, projectId: number): Promise<ListedAudience[]> {
  const audiences = await listCurrent(tx, projectId);
  return audiences.map((audience) => listedAudience(audience, audiences));
}

function listedAudience(audience: CurrentAudience, all: CurrentAudience[]): ListedAudience {
  const { id, name, createdAt, updatedAt, building } = audience;
  return {
    id,
    name,
    state: stateOf(audience),
    members: visibleVersion(audience).members,
    // New users may have arrived since the count.
    progress: building && { built: building.built, users: Math.max(building.users, building.built) },
    sentence: sentenceFor(newestVersion(audience).predicate, all),
    created_at: createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
  };
}

function stateOf({ served, building }: CurrentAudience): ListedAudience['state'] {
  if (!building) return 'ready';
  return served ? 'rebuilding' : 'building';
}

type AudienceView = Omit<AudienceDetails, 'used_by'>;

const SAMPLE_MEMBERS = 20;

export async function showAudience(
  tx: Tx,
  { projectId, reference, now }: { projectId: number; reference: string; now: Date },
): Promise<AudienceView> {
  const { id } = await findAudience(tx, { projectId, reference });
  const all = await listCurrent(tx, projectId);
  const audience = all.find((candidate) => candidate.id === id);
  if (!audience) throw unknownAudience(reference);
  const from = firstDay(audience.createdAt, now);
  const { versionId } = visibleVersion(audience);
  return {
    ...listedAudience(audience, all),
    definition: newestVersion(audience).definition,
    growth: growthOf(await listDayRows(tx, { projectId, audienceId: id, from }), from, dayOf(now)),
    sample: await listMemberRows(tx, { projectId, versionId, after: null, limit: SAMPLE_MEMBERS }),
  };
}

const GROWTH_DAYS = 30;
const DAY_MS = 86_400_000;

/** Returns the first day of the growth chart: the day of creation for an audience younger than the period. */
function firstDay(createdAt: Date, now: Date): string {
  const first = Math.max(createdAt.getTime(), now.getTime() - (GROWTH_DAYS - 1) * DAY_MS);
  return dayOf(new Date(Math.min(first, now.getTime())));
}

/** Lists the growth of all audiences of a project by audience id, one entry per day, ending today. */
export async function listGrowth(
  tx: Tx,
  { projectId, now, audiences }: { projectId: number; now: Date; audiences: ListedAudience[] },
): Promise<Map<string, AudienceDay[]>> {
  const from = dayOf(new Date(now.getTime() - (GROWTH_DAYS - 1) * DAY_MS));
  const rows = Map.groupBy(await listAllDayRows(tx, { projectId, from }), (row) => row.audience_id);
  return new Map(
    audiences.map(({ id, created_at: at }) => [
      id,
      growthOf(rows.get(id) ?? [], firstDay(new Date(at), now), dayOf(now)),
    ]),
  );
}

/** Fills in days without changes. They have no row and end with as many members as the day before. */
function growthOf(rows: GrowthDayRow[], from: string, to: string): AudienceDay[] {
  const byDay = new Map(rows.map((row) => [row.day, row]));
  let members = rows.findLast(({ day }) => day < from)?.members ?? 0;
  const days: AudienceDay[] = [];
  for (let at = Date.parse(from); at <= Date.parse(to); at += DAY_MS) {
    const day = dayOf(new Date(at));
    const row = byDay.get(day);
    members = row?.members ?? members;
    days.push({ day, joined: row?.joined ?? 0, left: row?.left_count ?? 0, members });
  }
  return days;
}
