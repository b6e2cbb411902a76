import type { Tx } from '../../platform/db/statements.ts';
import { type Draft, NOT_WHOLE, PERSON_DECIDES, expiryOf, leavesAt } from '../drafts/index.ts';

/** A draft that is sent automatically when its time comes and the send checks pass. Times are in milliseconds. */
export type QueuedLetter = Pick<
  Draft,
  'id' | 'ruleId' | 'userId' | 'state' | 'reason' | 'priority' | 'counts' | 'expiresAt'
> & {
  leavesAt: number;
};

/** States and reasons that hold a draft until a member acts. A deferred email is excluded because it was claimed before. */
const WAITS_FOR_MORE = [...PERSON_DECIDES, ...NOT_WHOLE, 'composing', 'editing', 'deferred'];

/**
 * Lists the queue of a project without texts, page by page by id. Drafts that wait for a member are not in it. `expiresAt` is the time from
 * which a draft is no longer sent.
 */
export async function listQueued(
  tx: Tx,
  { projectId, after, limit }: { projectId: number; after: string | null; limit: number },
): Promise<{ letters: QueuedLetter[]; after: string | null }> {
  const rows = await tx.query<Row>(
    `SELECT id, rule_id, external_user_id, state, resume_state, reason, priority, counts, lease_by, deadline_at, not_before,
       expires_at, ends_at
     FROM beckon.draft
     WHERE project_id = $1 AND ended_at IS NULL AND ($2::uuid IS NULL OR id > $2) ORDER BY id LIMIT $3`,
    [projectId, after, limit],
  );
  return {
    letters: rows.flatMap(toLetter),
    after: rows.length < limit ? null : (rows.at(-1)?.id ?? null),
  };
}

type Row = {
  id: string;
  rule_id: string;
  external_user_id: string;
  state: Draft['state'];
  resume_state: Draft['resumeState'];
  reason: string | null;
  priority: number;
  counts: boolean;
  lease_by: string | null;
  deadline_at: Date | null;
  not_before: Date | null;
  expires_at: Date | null;
  ends_at: Date | null;
};

function toLetter(row: Row): QueuedLetter[] {
  const { id, state, reason, priority, counts } = row;
  const times = timesOf(row);
  const at = leavesAt(times);
  const waits = state === 'sending' || row.lease_by !== null || WAITS_FOR_MORE.includes(reason ?? state);
  if (at === null || waits) return [];
  const expiresAt = expiryOf(times);
  const { rule_id: ruleId, external_user_id: userId } = row;
  return [{ id, ruleId, userId, state, reason, priority, counts, expiresAt, leavesAt: at }];
}

function timesOf(row: Row): Parameters<typeof expiryOf>[0] {
  const ms = (at: Date | null): number | null => at && at.getTime();
  return {
    state: row.state,
    resumeState: row.resume_state,
    deadlineAt: ms(row.deadline_at),
    notBefore: ms(row.not_before),
    expiresAt: ms(row.expires_at),
    endsAt: ms(row.ends_at),
  };
}
