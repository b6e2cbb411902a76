import type { Tx } from '../../platform/db/statements.ts';
import { unknownAudience } from './audience.ts';
import { listCurrent, newest, seen } from './current-versions.ts';
import { findAudience } from './find-audience.ts';
import { type ListedAudience, toListed } from './list-audiences.ts';
import type { Member } from './list-members.ts';
import { firstDay, type GrowthDay, growthOf } from './growth-by-day.ts';
import { listDayRows, listMemberRows } from './reads.ts';
import { dayOf } from './memberships.ts';

export type ShownAudience = ListedAudience & {
  definition: unknown;
  /** One entry per UTC day, from the first day of the audience to today. */
  growth: GrowthDay[];
  sample: Member[];
};

const SAMPLE_MEMBERS = 20;

export async function showAudience(
  tx: Tx,
  { projectId, reference, now }: { projectId: number; reference: string; now: Date },
): Promise<ShownAudience> {
  const { id } = await findAudience(tx, { projectId, reference });
  const all = await listCurrent(tx, projectId);
  const audience = all.find((one) => one.id === id);
  if (!audience) throw unknownAudience(reference);
  const from = firstDay(audience.createdAt, now);
  const { edition } = seen(audience);
  return {
    ...toListed(audience, all),
    definition: newest(audience).definition,
    growth: growthOf(await listDayRows(tx, { projectId, audienceId: id, from }), from, dayOf(now)),
    sample: await listMemberRows(tx, { projectId, edition, after: null, limit: SAMPLE_MEMBERS }),
  };
}
