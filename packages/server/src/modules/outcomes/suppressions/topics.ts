import type { Tx } from '../../../platform/db/statements.ts';
import type { SuppressedKind } from '../../sending/index.ts';

/** A topic from which an address or a user is unsubscribed. */
export type TopicUnsubscribe = { kind: SuppressedKind; value: string; topic: string; createdAt: Date };
export type RefusalKey = Pick<TopicUnsubscribe, 'kind' | 'value' | 'topic'>;

/** Lists refusals by kind, value and topic. `after` is the last one of the previous page. */
export function listTopicUnsubscribes(
  tx: Tx,
  page: { projectId: number; after: RefusalKey | null; offset: number; limit: number },
): Promise<TopicUnsubscribe[]> {
  const { projectId, after, offset, limit } = page;
  return tx.query<TopicUnsubscribe>(
    `SELECT kind, value, topic, created_at AS "createdAt" FROM beckon.topic_unsubscribe
     WHERE project_id = $1 AND (kind, value, topic) > ($2, $3, $4) ORDER BY kind, value, topic OFFSET $5 LIMIT $6`,
    [projectId, after?.kind ?? '', after?.value ?? '', after?.topic ?? '', offset, limit],
  );
}

export async function countTopicUnsubscribes(
  tx: Tx,
  { projectId, most }: { projectId: number; most: number },
): Promise<number> {
  const [row] = await tx.query<{ found: number }>(
    `SELECT count(*) AS found FROM (SELECT 1 FROM beckon.topic_unsubscribe WHERE project_id = $1 LIMIT $2) counted`,
    [projectId, most],
  );
  return row?.found ?? 0;
}
