import { eraseDecisions } from './decisions/store.ts';
import { deleteOfPerson } from './definitions/store.ts';
import { eraseRuns } from './runs/store.ts';
import type { PersonId } from '../users/index.ts';
import type { Tx } from '../../platform/db/statements.ts';

type ErasedRuleRows = { run: number; decision: number; enrollment_record: number; rule_timer: number };

/** Deletes all that rules store about a user. Returns the number of rows by table. */
export async function eraseRuleRows(tx: Tx, person: PersonId): Promise<ErasedRuleRows> {
  const run = await eraseRuns(tx, person);
  const decision = await eraseDecisions(tx, person);
  const { entries, timers } = await deleteOfPerson(tx, person);
  return { run, decision, enrollment_record: entries, rule_timer: timers };
}
