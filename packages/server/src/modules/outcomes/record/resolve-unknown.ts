import {
  type Draft,
  isRefused,
  lockDrafts,
  type DraftChange,
  resolveDraft,
  writeTransitions,
} from '../../drafts/index.ts';
import { listProofs, type OutcomeEmail } from '../reads.ts';
import type { Outcome } from '../outcome.ts';
import { resolveEmails } from '../../sending/index.ts';
import type { Tx } from '../../../platform/db/statements.ts';

/** Locks the drafts of emails whose delivery is unknown. */
export function lockUnknown(
  tx: Tx,
  outcomes: Outcome[],
  emails: Map<string, OutcomeEmail>,
): Promise<Draft[]> {
  const unknown = outcomes.filter(({ emailId }) => emails.get(emailId)?.state === 'unknown');
  const [first] = unknown;
  if (!first) return Promise.resolve([]);
  const ids = new Set(unknown.map(({ draftId }) => draftId));
  return lockDrafts(tx, first.projectId, [...ids]);
}

/** Resolves drafts that just became unknown, by outcomes that arrived while they were being sent. */
export async function resolveLost(
  tx: Tx,
  { projectId, drafts, now }: { projectId: number; drafts: Draft[]; now: number },
): Promise<void> {
  const unknown = drafts.filter(({ state }) => state === 'unknown');
  const ids = unknown.map(({ id }) => id);
  await resolveUnknown(tx, { outcomes: await listProofs(tx, projectId, ids), unknown, now });
}

/** Resolves unknown deliveries. A bounce proves that an email did not arrive, any other outcome that it did. */
export async function resolveUnknown(
  tx: Tx,
  { outcomes, unknown, now }: { outcomes: Outcome[]; unknown: Draft[]; now: number },
): Promise<void> {
  if (unknown.length === 0) return;
  const proofs = new Map<string, Outcome>();
  for (const outcome of outcomes)
    if (outcome.class !== 'unverified' && !proofs.has(outcome.draftId)) proofs.set(outcome.draftId, outcome);
  const moved = unknown.flatMap((draft): DraftChange[] => {
    const proof = proofs.get(draft.id);
    if (!proof) return [];
    const detail = { outcome: proof.type };
    const decided = resolveDraft(draft, resultOf(proof), { now, detail });
    return isRefused(decided) ? [] : [decided];
  });
  await writeTransitions(tx, moved);
  await resolveEmails(
    tx,
    moved.map(({ draft }) => ({
      projectId: draft.projectId,
      draftId: draft.id,
      state: draft.state === 'sent' ? 'sent' : 'failed',
      reason: draft.reason,
    })),
  );
}

function resultOf({ type, detail }: Outcome): Parameters<typeof resolveDraft>[1] {
  if (type !== 'email.bounced') return { result: 'sent' };
  return { result: 'failed', reason: detail['bounce_class'] === 'policy' ? 'rejected' : 'bounced' };
}
