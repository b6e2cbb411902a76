import { evaluate } from '../../base/predicate/index.ts';
import type { Draft } from '../../features/drafts/index.ts';
import { personKey } from '../../features/people/index.ts';
import { findEarlier, type GateAnswer, readBucket } from '../../features/sending/index.ts';
import type { Tx } from '../../io/db/index.ts';
import type { Model } from '../models.ts';
import { openGates, passGates } from './ask-gates.ts';
import { conditionOf, gatherEvidence } from './evaluate.ts';
import type { Mailroom } from './mailroom.ts';
import { findSender } from './sender-of.ts';

export type LookAhead = {
  /** Whether the condition of its rule holds now; true where it has none. */
  holds: boolean;
  /** What the gates would say to it now; null where nobody is known whom it could go to. */
  gate: GateAnswer | null;
};

/** What would become of a draft if it were to leave now, by what the sender itself asks. It takes nothing. */
export async function lookAhead(
  tx: Tx,
  draft: Draft,
  { model, now, mailroom }: { model: Model; now: number; mailroom: Mailroom },
): Promise<LookAhead> {
  const { people, facts } = await gatherEvidence(tx, [draft], { model, now });
  const person = people.get(personKey(draft));
  const condition = conditionOf(model, draft);
  const known = facts.get(personKey(draft));
  const holds = condition === null || known === undefined || evaluate(condition, known).holds;
  if (!person) return { holds, gate: null };
  const bucket = await readBucket(tx, draft.projectId);
  const [sender, earlier] = await Promise.all([
    findSender(tx, model, mailroom),
    findEarlier(tx, { projectId: draft.projectId, draftIds: [draft.id] }),
  ]);
  const gates = await openGates(tx, { model, now, bucket, people, sender, mailroom });
  return { holds, gate: passGates(gates, draft, { person, isClaimedAgain: earlier.has(draft.id) }) };
}
