import { iso } from '../../base/clock.ts';
import { type Draft, listDrafts } from '../../features/drafts/index.ts';
import type { PersonId } from '../../features/people/index.ts';
import type { Tx } from '../../io/db/index.ts';
import type { Model } from '../models.ts';
import { lookAhead, type Mailroom } from '../send-drafts/index.ts';
import { reasonWords } from './words.ts';

/** A letter: how it ended or, while it is open, what would become of it if it were to leave now, by what the sender itself asks. */
export type DraftNow = {
  id: string;
  key: string;
  subject: string;
  state: string;
  /** Why it is held. */
  reason: string | null;
  deadline_at: string | null;
  /** When the sender looks at it next; null: a person or an event has to move it. */
  due_at: string | null;
  expires_at: string | null;
  /** When it came to its end; null while it is open. */
  ended_at: string | null;
  /** Whether the condition of its rule still holds. */
  rule_holds: boolean;
  /** Null where nothing would hold it. */
  send_check: {
    reason: string;
    sentence: string;
    until: string | null;
    detail: Record<string, unknown>;
  } | null;
};

const DRAFTS_MAX = 1_000;

/** The open ones among the newest of a person, by their rules; of a rule without any, the last that ended. */
export async function draftsNow(
  tx: Tx,
  { projectId, userId }: PersonId,
  { model, now, mailroom }: Looking,
): Promise<Map<string, DraftNow[]>> {
  const asked = { projectId, userId, state: null, ruleId: null, after: null, limit: DRAFTS_MAX };
  const byRule = new Map<string, DraftNow[]>();
  for (const [ruleId, ofRule] of Map.groupBy(await listDrafts(tx, asked), (draft) => draft.ruleId)) {
    const open = ofRule.filter(({ endedAt }) => endedAt === null);
    const shown: DraftNow[] = [];
    for (const draft of open) shown.push(await openNow(tx, draft, { model, now, mailroom }));
    const [last] = ofRule;
    if (shown.length === 0 && last) shown.push({ ...toShown(last), rule_holds: true, send_check: null });
    byRule.set(ruleId, shown);
  }
  return byRule;
}

type Looking = { model: Model; now: number; mailroom: Mailroom };

async function openNow(tx: Tx, draft: Draft, { model, now, mailroom }: Looking): Promise<DraftNow> {
  const { holds, gate } = await lookAhead(tx, draft, { model, now, mailroom });
  return {
    ...toShown(draft),
    rule_holds: holds,
    send_check: gate === null || gate.passes ? null : toHeld(gate),
  };
}

function toShown(draft: Draft): Omit<DraftNow, 'rule_holds' | 'send_check'> {
  const { id, key, content, state, reason, deadlineAt, dueAt, expiresAt, endedAt } = draft;
  return {
    id,
    key,
    subject: content.subject,
    state,
    reason,
    deadline_at: shownTime(deadlineAt),
    due_at: shownTime(dueAt),
    expires_at: shownTime(expiresAt),
    ended_at: shownTime(endedAt),
  };
}

type No = { reason: string; until: number | null; detail: Record<string, unknown> };

function toHeld({ reason, until, detail }: No): DraftNow['send_check'] {
  return { reason, sentence: reasonWords(reason, 'draft', detail), until: shownTime(until), detail };
}

function shownTime(ms: number | null): string | null {
  return ms === null ? null : iso(ms);
}
