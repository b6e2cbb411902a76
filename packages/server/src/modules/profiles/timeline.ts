import { listAudiences } from '../audiences/index.ts';
import { countTimeline, listTimeline, type TimelineAsked, type TimelineRow } from './merge-timeline.ts';
import { findPeople, unknownPerson } from '../users/index.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { ruleNames } from '../explain/index.ts';

/** A row of the timeline with the names of its rule and audience; a deleted audience has no name. */
export type NamedItem = TimelineRow & { ruleName: string | null; audienceName: string | null };

export type NamedPage = { items: NamedItem[]; cursor: string | null; total: number; isAtLeast: boolean };

const COUNTED_MAX = 1_000;

export async function personTimeline(
  tx: Tx,
  asked: TimelineAsked & { after: string | null; limit: number },
): Promise<NamedPage> {
  const { projectId, userId } = asked;
  const [person] = await findPeople(tx, [{ projectId, userId }], { emails: false });
  if (!person) throw unknownPerson(userId);
  const { rows, cursor } = await listTimeline(tx, asked);
  const count = await countTimeline(tx, { ...asked, upTo: COUNTED_MAX + 1 });
  const rules = await ruleNames(tx, projectId);
  const audiences = new Map((await listAudiences(tx, projectId)).map(({ id, name }) => [id, name]));
  const items = rows.map((row) => ({
    ...row,
    ruleName: row.rule_id && rules(row.rule_id),
    audienceName: row.audience_id && (audiences.get(row.audience_id) ?? null),
  }));
  return { items, cursor, total: Math.min(count, COUNTED_MAX), isAtLeast: count > COUNTED_MAX };
}
