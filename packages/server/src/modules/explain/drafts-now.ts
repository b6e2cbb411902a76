import { isoOrNull } from '../../platform/time/clock.ts';
import { type Draft, listDrafts } from '../drafts/index.ts';
import type { PersonId } from '../users/index.ts';
import type { Tx } from '../../platform/db/statements.ts';
import type { Model } from '../rules/index.ts';
import { lookAhead, type SendServices } from '../delivery/index.ts';
import { reasonWords } from './reason-sentences.ts';

/** A draft: how it ended or, while it is open, what the send checks would decide if it were due now. */
export type DraftNow = {
  id: string;
  key: string;
  subject: string;
  state: string;
  /** Why the draft is held. */
  reason: string | null;
  deadline_at: string | null;
  /** When the sender checks the draft next. Null: only a member or an event can change it. */
  due_at: string | null;
  expires_at: string | null;
  /** When the draft ended; null while it is open. */
  ended_at: string | null;
  /** True while the condition of the draft's rule holds. */
  rule_holds: boolean;
  /** Null if no send check would hold the draft. */
  send_check: {
    reason: string;
    sentence: string;
    until: string | null;
    detail: Record<string, unknown>;
  } | null;
};

const DRAFTS_MAX = 1_000;

/** Returns the open drafts among a user's newest ones, by rule id. For a rule without open drafts: the last one that ended. */
export async function draftsNow(
  tx: Tx,
  { projectId, userId }: PersonId,
  { model, now, sendServices }: DraftLookup,
): Promise<Map<string, DraftNow[]>> {
  const query = { projectId, userId, state: null, ruleId: null, after: null, limit: DRAFTS_MAX };
  const byRule = new Map<string, DraftNow[]>();
  for (const [ruleId, ofRule] of Map.groupBy(await listDrafts(tx, query), (draft) => draft.ruleId)) {
    const open = ofRule.filter(({ endedAt }) => endedAt === null);
    const drafts: DraftNow[] = [];
    for (const draft of open) drafts.push(await openDraftNow(tx, draft, { model, now, sendServices }));
    const [last] = ofRule;
    if (drafts.length === 0 && last)
      drafts.push({ ...draftFields(last), rule_holds: true, send_check: null });
    byRule.set(ruleId, drafts);
  }
  return byRule;
}

type DraftLookup = { model: Model; now: number; sendServices: SendServices };

async function openDraftNow(
  tx: Tx,
  draft: Draft,
  { model, now, sendServices }: DraftLookup,
): Promise<DraftNow> {
  const { matches, gate } = await lookAhead(tx, draft, { model, now, sendServices });
  return {
    ...draftFields(draft),
    rule_holds: matches,
    send_check: gate === null || gate.passes ? null : sendCheckOf(gate),
  };
}

function draftFields(draft: Draft): Omit<DraftNow, 'rule_holds' | 'send_check'> {
  const { id, key, content, state, reason, deadlineAt, dueAt, expiresAt, endedAt } = draft;
  return {
    id,
    key,
    subject: content.subject,
    state,
    reason,
    deadline_at: isoOrNull(deadlineAt),
    due_at: isoOrNull(dueAt),
    expires_at: isoOrNull(expiresAt),
    ended_at: isoOrNull(endedAt),
  };
}

type CheckRefusal = { reason: string; until: number | null; detail: Record<string, unknown> };

function sendCheckOf({ reason, until, detail }: CheckRefusal): DraftNow['send_check'] {
  return { reason, sentence: reasonWords(reason, 'draft', detail), until: isoOrNull(until), detail };
}
