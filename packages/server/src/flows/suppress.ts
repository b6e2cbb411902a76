import { domainToUnicode } from 'node:url';
import { normaliseAddress } from '../base/address.ts';
import { type Actor, cancel, isRefused, listOpenOfPeople, writeMoved } from '../features/drafts/index.ts';
import { findByAddress, type PersonId } from '../features/people/index.ts';
import { takeSendTurn, withdrawClaims } from '../features/sending/index.ts';
import { endRun, findOpenRuns, updateRuns } from '../features/sequences/index.ts';
import {
  addSuppression,
  removeSuppression,
  type SuppressedPlace,
  type SuppressionReason,
} from '../features/suppressions/index.ts';
import { takeTurn } from '../features/turns/index.ts';
import type { Database, Tx } from '../io/db/index.ts';

export type Suppressing = SuppressedPlace & {
  reason: SuppressionReason;
  /** When it ends; null: not by itself. Milliseconds. */
  until: number | null;
  actor: Actor;
};

/** `isAdded`: false where one that lasts at least as long was there. `drafts`, `runs`: how many came to their end by it. */
export type Suppressed = { isAdded: boolean; drafts: number; runs: number };

/**
 * Nothing is sent to this address, or to this person, any more; what was under way to them ends, approved and edited drafts
 * too. Under the project's turn, so that nobody begins anything between the two.
 */
export function suppress(
  db: Pick<Database, 'transaction' | 'clock'>,
  { actor, ...wanted }: Suppressing,
): Promise<Suppressed> {
  return db.transaction(async (tx) => {
    await takeTurn(tx, wanted.projectId);
    // Whoever is claiming just now is waited for: nothing is claimed for them after this has answered.
    await takeSendTurn(tx, wanted.projectId);
    const now = db.clock.now();
    const isAdded = await addSuppression(tx, { ...wanted, createdAt: now, createdBy: actor });
    const concerned = await concernedBy(tx, wanted);
    const users = concerned.map(({ userId }) => userId);
    const ended = await endFor(tx, concerned, { now, actor });
    await withdrawClaims(tx, { projectId: wanted.projectId, users });
    return { isAdded, ...ended };
  });
}

/** Whether there was one. What has ended by it does not begin again. */
export function liftSuppression(db: Pick<Database, 'transaction'>, place: SuppressedPlace): Promise<boolean> {
  return db.transaction((tx) => removeSuppression(tx, place));
}

/** Everybody who shares the mailbox. */
async function concernedBy(tx: Tx, { projectId, kind, value }: SuppressedPlace): Promise<PersonId[]> {
  if (kind === 'person') return [{ projectId, userId: value }];
  const address = normaliseAddress(value);
  const people = await findByAddress(tx, projectId, formsOf(address));
  return people
    .filter(({ email }) => normaliseAddress(email) === address)
    .map(({ userId }) => ({ projectId, userId }));
}

/** People are found by their address as it was sent: its domain in A-labels, or as it is read. */
function formsOf(address: string): string[] {
  const at = address.lastIndexOf('@') + 1;
  return [address, address.slice(0, at) + domainToUnicode(address.slice(at))];
}

async function endFor(
  tx: Tx,
  people: PersonId[],
  { now, actor }: { now: number; actor: Actor },
): Promise<{ drafts: number; runs: number }> {
  const reason = 'suppressed';
  const moved = (await listOpenOfPeople(tx, people)).flatMap((draft) => {
    const decided = cancel(draft, { reason, now, actor });
    return isRefused(decided) ? [] : [decided];
  });
  await writeMoved(tx, moved);
  const runs = await findOpenRuns(tx, people);
  await updateRuns(
    tx,
    runs.map((run) => endRun(run, reason, now)),
  );
  return { drafts: moved.length, runs: runs.length };
}
