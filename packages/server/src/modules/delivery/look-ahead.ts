import { evaluate } from '../../platform/predicate/evaluate.ts';
import type { Draft } from '../drafts/index.ts';
import { personKey } from '../users/index.ts';
import { findEarlier, type GateAnswer, readBucket } from '../sending/index.ts';
import type { Tx } from '../../platform/db/statements.ts';
import type { Model } from '../rules/index.ts';
import { openGates, passGates } from './send-checks.ts';
import { conditionOf, gatherEvidence } from './evaluate.ts';
import type { Mailroom } from './mailroom.ts';
import { findSender } from './find-sender.ts';

export type LookAhead = {
  /** True if the rule has no condition, or its condition holds now. */
  holds: boolean;
  /** The present answer of the send checks; null if the user no longer exists. */
  gate: GateAnswer | null;
};

type Looking = { model: Model; now: number; mailroom: Mailroom };

/** Evaluates a draft as if it were due now, by the same checks as the sender. Takes no slot and no token. */
export async function lookAhead(tx: Tx, draft: Draft, looking: Looking): Promise<LookAhead> {
  const found = (await lookAheadOfAll(tx, [draft], looking)).get(draft.id);
  if (!found) throw new Error('a draft was not evaluated');
  return found;
}

/** Evaluates drafts of one project as if they were sent one after another in this order. Returns the results by draft id. */
export async function lookAheadOfAll(
  tx: Tx,
  drafts: Draft[],
  { model, now, mailroom }: Looking,
): Promise<Map<string, LookAhead>> {
  const { projectId } = model.project;
  const { people, facts } = await gatherEvidence(tx, drafts, { model, now });
  const bucket = await readBucket(tx, projectId);
  const [sender, earlier] = await Promise.all([
    findSender(tx, model, mailroom),
    findEarlier(tx, { projectId, draftIds: drafts.map(({ id }) => id) }),
  ]);
  const gates = await openGates(tx, { model, now, bucket, people, sender, mailroom });
  const looked = drafts.map((draft): [string, LookAhead] => {
    const person = people.get(personKey(draft));
    const condition = conditionOf(model, draft);
    const known = facts.get(personKey(draft));
    const holds = condition === null || known === undefined || evaluate(condition, known).holds;
    if (!person) return [draft.id, { holds, gate: null }];
    const isTriedAgain = (earlier.get(draft.id)?.attempts ?? 0) > 0;
    return [draft.id, { holds, gate: passGates(gates, draft, { person, isTriedAgain }) }];
  });
  return new Map(looked);
}
