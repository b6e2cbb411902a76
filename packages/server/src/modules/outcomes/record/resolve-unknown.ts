import {
  type Draft,
  isRefused,
  lockDrafts,
  type DraftChange,
  resolveDraft,
  writeTransitions,
} from '../../drafts/index.ts';
import { listDelivered, listProofs, type OutcomeEmail } from '../reads.ts';
import type { Outcome } from '../outcome.ts';
import { recordDelivered, resolveEmails } from '../../sending/index.ts';
import type { Database } from '../../../platform/db/database.ts';
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
  const outcomes = await listProofs(tx, projectId, ids);
  await resolveUnknown(tx, { outcomes, unknown, now });
  const isProven = new Set(outcomes.map(({ draftId }) => draftId));
  const delivered = await listDelivered(tx, projectId, ids);
  const rest = unknown.filter(({ id }) => delivered.has(id) && !isProven.has(id));
  await writeResolved(
    tx,
    rest.flatMap((draft) => resolvedChange(draft, DELIVERED, now)),
  );
}

/**
 * Resolves unknown deliveries of emails that the provider of their relay reports as delivered. A report that arrives while an email is still
 * being submitted is remembered, in case its delivery becomes unknown.
 */
export async function resolveDelivered(
  db: Pick<Database, 'query' | 'prepared' | 'transaction'>,
  { projectId, emailIds, now }: { projectId: number; emailIds: string[]; now: number },
): Promise<void> {
  const draftIds = await recordDelivered(db, { projectId, emailIds, at: now });
  if (draftIds.length === 0) return;
  await db.transaction(async (tx) => {
    const drafts = await lockDrafts(tx, projectId, draftIds);
    const unknown = drafts.filter(({ state }) => state === 'unknown');
    await writeResolved(
      tx,
      unknown.flatMap((draft) => resolvedChange(draft, DELIVERED, now)),
    );
  });
}

/** The answer of a relay that was asked again, and that had accepted the email. */
type AcceptedEmail = {
  draftId: string;
  reply?: string | undefined;
  relayId?: string | null | undefined;
};

/** Resolves unknown deliveries of emails that their relay accepted, by its answers to the same requests. */
export async function resolveAccepted(
  db: Pick<Database, 'transaction'>,
  { projectId, emails, now }: { projectId: number; emails: AcceptedEmail[]; now: number },
): Promise<void> {
  const answers = new Map(emails.map((email) => [email.draftId, email]));
  await db.transaction(async (tx) => {
    const drafts = await lockDrafts(tx, projectId, [...answers.keys()]);
    const unknown = drafts.filter(({ state }) => state === 'unknown');
    const moved = unknown.flatMap((draft) => resolvedChange(draft, ASKED, now));
    await writeResolved(tx, moved, answers);
  });
}

type Resolution = { outcome: string; result: Parameters<typeof resolveDraft>[1] };
const DELIVERED: Resolution = { outcome: 'delivered', result: { result: 'sent' } };
const ASKED: Resolution = { outcome: 'asked_again', result: { result: 'sent' } };

function resolvedChange(draft: Draft, { outcome, result }: Resolution, now: number): DraftChange[] {
  const decided = resolveDraft(draft, result, { now, detail: { outcome } });
  return isRefused(decided) ? [] : [decided];
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
  await writeResolved(
    tx,
    unknown.flatMap((draft) => {
      const proof = proofs.get(draft.id);
      return proof ? resolvedChange(draft, { outcome: proof.type, result: resultOf(proof) }, now) : [];
    }),
  );
}

async function writeResolved(
  tx: Tx,
  moved: DraftChange[],
  answers: ReadonlyMap<string, AcceptedEmail> = new Map(),
): Promise<void> {
  if (moved.length === 0) return;
  await writeTransitions(tx, moved);
  await resolveEmails(
    tx,
    moved.map(({ draft }) => ({
      projectId: draft.projectId,
      draftId: draft.id,
      state: draft.state === 'sent' ? 'sent' : 'failed',
      reason: draft.reason,
      reply: answers.get(draft.id)?.reply,
      relayId: answers.get(draft.id)?.relayId,
    })),
  );
}

function resultOf({ type, detail }: Outcome): Parameters<typeof resolveDraft>[1] {
  if (type !== 'email.bounced') return { result: 'sent' };
  return { result: 'failed', reason: detail['bounce_class'] === 'policy' ? 'rejected' : 'bounced' };
}
