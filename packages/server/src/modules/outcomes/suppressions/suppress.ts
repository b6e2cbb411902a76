import { domainToUnicode } from 'node:url';
import { normaliseAddress } from '../../../platform/net/address.ts';
import { type Actor, ENGINE, cancel, isRefused, listOpenOfPeople, askHeldAgain } from '../../drafts/index.ts';
import { findByAddress, type PersonId } from '../../users/index.ts';
import {
  takeSendTurn,
  withdrawClaims,
  addSuppressions,
  liftSuppressions,
  type ClearPlace,
  SUPPRESSION_REASONS,
  type SuppressedPlace,
  type Suppression,
  type SuppressionReason,
  type SuppressionHasher,
  writeMoves,
} from '../../sending/index.ts';
import { endRun, findOpenRuns, updateRuns } from '../../rules/index.ts';
import { restorePlaces } from './erased.ts';
import { takeTurn } from '../../../platform/locks/project-lock.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { Tx } from '../../../platform/db/statements.ts';

export type Suppressing = ClearPlace & {
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
  { actor, hasher, ...wanted }: Suppressing,
): Promise<Suppressed> {
  return db.transaction(async (tx) => {
    const { projectId } = wanted;
    await takeTurn(tx, projectId);
    // This waits for a running claim, so that nothing is claimed for them after this returns.
    await takeSendTurn(tx, projectId);
    const now = db.clock.now();
    if (hasher) await restorePlaces(tx, { hasher, places: [wanted], now });
    const { added, drafts, runs } = await suppressIn(tx, projectId, {
      wanted: [{ ...wanted, createdAt: now, createdBy: actor }],
      now,
      actor,
    });
    return { isAdded: added > 0, drafts, runs };
  });
}

export type SuppressingMany = {
  wanted: Omit<Suppression, 'projectId'>[];
  now: number;
  actor: Actor;
  /** The reason for ending drafts and runs. */
  ends?: 'suppressed' | 'bounced';
};

/** Suppresses many places at once, in a transaction of their project that has taken `takeTurn` and then `takeSendTurn`. */
export async function suppressIn(
  tx: Tx,
  projectId: number,
  { wanted, now, actor, ends = 'suppressed' }: SuppressingMany,
): Promise<{ added: number; drafts: number; runs: number }> {
  const added = await addSuppressions(
    tx,
    wanted.map((one) => ({ ...one, projectId })),
  );
  const ended = await endForPlaces(tx, projectId, { places: wanted, now, actor, ends });
  return { added: added.length, ...ended };
}

type Ending = Omit<SuppressingMany, 'wanted'> & { places: Pick<SuppressedPlace, 'kind' | 'value'>[] };

/** Ends the drafts and runs of all users who are suppressed by these places. */
export async function endForPlaces(
  tx: Tx,
  projectId: number,
  { places, now, actor, ends = 'suppressed' }: Ending,
): Promise<{ drafts: number; runs: number }> {
  const concerned = await concernedBy(tx, projectId, places);
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
  places: [SuppressedPlace, ...SuppressedPlace[]],
  actor: Actor = ENGINE,
): Promise<boolean> {
  return db.transaction(async (tx) => {
    const given = { places, reasons: SUPPRESSION_REASONS, now: db.clock.now(), actor };
    return (await liftIn(tx, places[0].projectId, given)) > 0;
  });
}

export type LiftingMany = {
  places: SuppressedPlace[];
  reasons: readonly SuppressionReason[];
  now: number;
  actor?: Actor;
};

/** Lifts the suppressions of these places with one of these reasons, in a transaction of their project. Returns their number. */
export async function liftIn(
  tx: Tx,
  projectId: number,
  { places, reasons, now, actor = ENGINE }: LiftingMany,
): Promise<number> {
  const lifted = await liftSuppressions(tx, { places, reasons, at: now, by: actor });
  if (lifted === 0) return 0;
  const users = (await concernedBy(tx, projectId, places)).map(({ userId }) => userId);
  await askHeldAgain(tx, { projectId, reasons: ['suppressed'], users, now });
  return lifted;
}

/** Returns these users and all users who share one of the mailboxes, each once. */
export async function concernedBy(
  tx: Tx,
  projectId: number,
  places: Pick<SuppressedPlace, 'kind' | 'value'>[],
): Promise<PersonId[]> {
  const users = new Set(places.filter(({ kind }) => kind === 'user').map(({ value }) => value));
  const addresses = new Set(
    places.filter(({ kind }) => kind === 'email').map(({ value }) => normaliseAddress(value)),
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
