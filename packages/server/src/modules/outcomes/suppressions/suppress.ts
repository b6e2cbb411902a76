import { domainToUnicode } from 'node:url';
import { normaliseAddress } from '../../../platform/net/address.ts';
import { type Actor, ENGINE, cancel, isRefused, listOpenOfPeople, recheckHeld } from '../../drafts/index.ts';
import { findByAddress, type PersonId } from '../../users/index.ts';
import {
  takeSendLock,
  withdrawClaims,
  type ClearTarget,
  type SuppressionTarget,
  type SuppressionReason,
  type SuppressionHasher,
  writeMoves,
} from '../../sending/index.ts';
import { endRun, findOpenRuns, updateRuns } from '../../rules/index.ts';
import { restoreTargets } from './erased.ts';
import { takeProjectLock } from '../../../platform/locks/project-lock.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { addSuppressions, liftSuppressions } from './store.ts';
import { SUPPRESSION_REASONS, type Suppression } from './entries.ts';

export type SuppressInput = ClearTarget & {
  reason: SuppressionReason;
  /** When it ends, in milliseconds; null if it never ends automatically. */
  until: number | null;
  actor: Actor;
  /** Set if a member typed the place. Hashed entries for it are merged with this one, so that the list has one row. */
  hasher?: SuppressionHasher;
};

/** `isAdded`: false if a suppression that lasts at least as long existed. `drafts`, `runs`: how many ended. */
export type Suppressed = { isAdded: boolean; drafts: number; runs: number };

/**
 * Suppresses an address or a user. Their drafts and runs end, including approved and edited drafts. This happens under the project lock, so
 * that nothing begins in between.
 */
export function suppress(
  db: Pick<Database, 'transaction' | 'clock'>,
  { actor, hasher, ...target }: SuppressInput,
): Promise<Suppressed> {
  return db.transaction(async (tx) => {
    const { projectId } = target;
    await takeProjectLock(tx, projectId);
    // This waits for a running claim, so that nothing is claimed for them after this returns.
    await takeSendLock(tx, projectId);
    const now = db.clock.now();
    if (hasher) await restoreTargets(tx, { hasher, targets: [target], now });
    const { added, drafts, runs } = await suppressIn(tx, projectId, {
      suppressions: [{ ...target, createdAt: now, createdBy: actor }],
      now,
      actor,
    });
    return { isAdded: added > 0, drafts, runs };
  });
}

export type SuppressManyInput = {
  suppressions: Omit<Suppression, 'projectId'>[];
  now: number;
  actor: Actor;
  /** The reason for ending drafts and runs. */
  ends?: 'suppressed' | 'bounced';
};

/** Suppresses many places at once, in a transaction of their project that has taken `takeProjectLock` and then `takeSendLock`. */
export async function suppressIn(
  tx: Tx,
  projectId: number,
  { suppressions, now, actor, ends = 'suppressed' }: SuppressManyInput,
): Promise<{ added: number; drafts: number; runs: number }> {
  const added = await addSuppressions(
    tx,
    suppressions.map((suppression) => ({ ...suppression, projectId })),
  );
  const ended = await endForTargets(tx, projectId, { targets: suppressions, now, actor, ends });
  return { added: added.length, ...ended };
}

type EndInput = Omit<SuppressManyInput, 'suppressions'> & {
  targets: Pick<SuppressionTarget, 'kind' | 'value'>[];
};

/** Ends the drafts and runs of all users who are suppressed by these places. */
export async function endForTargets(
  tx: Tx,
  projectId: number,
  { targets, now, actor, ends = 'suppressed' }: EndInput,
): Promise<{ drafts: number; runs: number }> {
  const concerned = await concernedBy(tx, projectId, targets);
  const ended = await endFor(tx, concerned, { now, actor, reason: ends });
  await withdrawClaims(tx, { projectId, users: concerned.map(({ userId }) => userId) });
  return ended;
}

/**
 * Lifts the suppressions of these places of one project: an address, and its hash. Returns whether there were any. Ended drafts and runs do
 * not start again; drafts that were only held are checked again at once.
 */
export function liftSuppression(
  db: Pick<Database, 'transaction' | 'clock'>,
  targets: [SuppressionTarget, ...SuppressionTarget[]],
  actor: Actor = ENGINE,
): Promise<boolean> {
  return db.transaction(async (tx) => {
    const input = { targets, reasons: SUPPRESSION_REASONS, now: db.clock.now(), actor };
    return (await liftIn(tx, targets[0].projectId, input)) > 0;
  });
}

export type LiftManyInput = {
  targets: SuppressionTarget[];
  reasons: readonly SuppressionReason[];
  now: number;
  actor?: Actor;
};

/** Lifts the suppressions of these places with one of these reasons, in a transaction of their project. Returns their number. */
export async function liftIn(
  tx: Tx,
  projectId: number,
  { targets, reasons, now, actor = ENGINE }: LiftManyInput,
): Promise<number> {
  const lifted = await liftSuppressions(tx, { targets, reasons, at: now, by: actor });
  if (lifted === 0) return 0;
  const users = (await concernedBy(tx, projectId, targets)).map(({ userId }) => userId);
  await recheckHeld(tx, { projectId, reasons: ['suppressed'], users, now });
  return lifted;
}

/** Returns these users and all users who share one of the mailboxes, each once. */
export async function concernedBy(
  tx: Tx,
  projectId: number,
  targets: Pick<SuppressionTarget, 'kind' | 'value'>[],
): Promise<PersonId[]> {
  const users = new Set(targets.filter(({ kind }) => kind === 'user').map(({ value }) => value));
  const addresses = new Set(
    targets.filter(({ kind }) => kind === 'email').map(({ value }) => normaliseAddress(value)),
  );
  const sharing = await findByAddress(tx, projectId, [...addresses].flatMap(formsOf));
  for (const { userId, email } of sharing) if (addresses.has(normaliseAddress(email))) users.add(userId);
  return [...users].map((userId) => ({ projectId, userId }));
}

/** Returns the forms in which an address may be stored: as it was sent, its domain is in A-labels or in Unicode. */
export function formsOf(address: string): string[] {
  const at = address.lastIndexOf('@') + 1;
  return [address, address.slice(0, at) + domainToUnicode(address.slice(at))];
}

async function endFor(
  tx: Tx,
  people: PersonId[],
  { now, actor, reason }: { now: number; actor: Actor; reason: 'suppressed' | 'bounced' },
): Promise<{ drafts: number; runs: number }> {
  const moved = (await listOpenOfPeople(tx, people)).flatMap((draft) => {
    const decided = cancel(draft, { reason, now, actor });
    return isRefused(decided) ? [] : [decided];
  });
  await writeMoves(tx, moved);
  const runs = await findOpenRuns(tx, people);
  await updateRuns(
    tx,
    runs.map((run) => endRun(run, reason, now)),
  );
  return { drafts: moved.length, runs: runs.length };
}
