import { evaluate } from '../../platform/predicate/evaluate.ts';
import type { Draft } from '../drafts/index.ts';
import { personKey } from '../users/index.ts';
import { readBucket } from '../sending/index.ts';
import type { Tx } from '../../platform/db/statements.ts';
import type { Model } from '../rules/index.ts';
import { loadGates, passGates } from './send-checks.ts';
import { conditionOf, loadEvidence } from './evaluate.ts';
import type { SendServices } from './send-services.ts';
import { findSender } from './find-sender.ts';
import { findEarlier } from './email-rows.ts';
import type { GateResult } from './gate/gate.ts';

export type LookAhead = {
  /** True if the rule has no condition, or its condition holds now. */
  matches: boolean;
  /** The present answer of the send checks; null if the user no longer exists. */
  gate: GateResult | null;
};

type LookAheadOptions = { model: Model; now: number; sendServices: SendServices };

/** Evaluates a draft as if it were due now, by the same checks as the sender. Takes no slot and no token. */
export async function lookAhead(tx: Tx, draft: Draft, options: LookAheadOptions): Promise<LookAhead> {
  const result = (await lookAheadOfAll(tx, [draft], options)).get(draft.id);
  if (!result) throw new Error('a draft was not evaluated');
  return result;
}

/** Evaluates drafts of one project as if they were sent one after another in this order. Returns the results by draft id. */
export async function lookAheadOfAll(
  tx: Tx,
  drafts: Draft[],
  { model, now, sendServices }: LookAheadOptions,
): Promise<Map<string, LookAhead>> {
  const { projectId } = model.project;
  const { people, facts } = await loadEvidence(tx, drafts, { model, now });
  const bucket = await readBucket(tx, projectId);
  const [sender, earlier] = await Promise.all([
    findSender(tx, model, sendServices),
    findEarlier(tx, { projectId, draftIds: drafts.map(({ id }) => id) }),
  ]);
  const gates = await loadGates(tx, { model, now, bucket, people, sender, sendServices });
  const results = drafts.map((draft): [string, LookAhead] => {
    const person = people.get(personKey(draft));
    const condition = conditionOf(model, draft);
    const draftFacts = facts.get(personKey(draft));
    const matches = condition === null || draftFacts === undefined || evaluate(condition, draftFacts).matches;
    if (!person) return [draft.id, { matches, gate: null }];
    const isTriedAgain = (earlier.get(draft.id)?.attempts ?? 0) > 0;
    return [draft.id, { matches, gate: passGates(gates, draft, { person, isTriedAgain }) }];
  });
  return new Map(results);
}
