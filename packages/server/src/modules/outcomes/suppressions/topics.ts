import type { FILTER_KEYS } from '@beckon/contract/dashboard';
import type { Tx } from '../../../platform/db/statements.ts';
import {
  type Filter,
  type FilterColumn,
  filterSql,
  WORDS,
  wordsColumn,
} from '../../../platform/filter/filter.ts';
import type { SuppressedKind } from '../../sending/index.ts';

/** A topic from which an address or a user is unsubscribed. */
export type TopicUnsubscribe = { kind: SuppressedKind; value: string; topic: string; createdAt: Date };
export type RefusalKey = Pick<TopicUnsubscribe, 'kind' | 'value' | 'topic'>;

type TopicsQuery = { projectId: number; filter: Filter };

/** Lists refusals by kind, value and topic. `after` is the last one of the previous page. */
export async function listTopicUnsubscribes(
  tx: Tx,
  page: TopicsQuery & { after: RefusalKey | null; offset: number; limit: number },
): Promise<TopicUnsubscribe[]> {
  const { projectId, filter, after, offset, limit } = page;
  const values: unknown[] = [
    projectId,
    after?.kind ?? '',
    after?.value ?? '',
    after?.topic ?? '',
    offset,
    limit,
  ];
  const where = filterSql(filter, FILTERED, (value) => `$${values.push(value)}`);
  if (where === null) return [];
  return tx.query<TopicUnsubscribe>(
    `SELECT kind, value, topic, created_at AS "createdAt" FROM beckon.topic_unsubscribe
     WHERE project_id = $1 AND (kind, value, topic) > ($2, $3, $4) AND ${where}
     ORDER BY kind, value, topic OFFSET $5 LIMIT $6`,
    values,
  );
}

export async function countTopicUnsubscribes(
  tx: Tx,
  { projectId, filter, most }: TopicsQuery & { most: number },
): Promise<number> {
  const values: unknown[] = [projectId, most];
  const where = filterSql(filter, FILTERED, (value) => `$${values.push(value)}`);
  if (where === null) return 0;
  const [row] = await tx.query<{ found: number }>(
    `SELECT count(*) AS found FROM (
       SELECT 1 FROM beckon.topic_unsubscribe WHERE project_id = $1 AND ${where} LIMIT $2) counted`,
    values,
  );
  return row?.found ?? 0;
}

const FILTERED: Record<keyof typeof FILTER_KEYS.topics | typeof WORDS, FilterColumn> = {
  kind: {
    sql: `CASE WHEN kind IN ('email', 'email_hash') THEN 'email' ELSE 'user' END`,
    among: ['email', 'user'],
  },
  email: { sql: `CASE WHEN kind = 'email' THEN value END` },
  user: { sql: `CASE WHEN kind = 'user' THEN value END` },
  topic: { sql: 'topic' },
  since: { sql: 'created_at', isTime: true },
  // A hash cannot be searched as text.
  [WORDS]: wordsColumn([`CASE WHEN kind IN ('email', 'user') THEN value END`, 'topic']),
};
