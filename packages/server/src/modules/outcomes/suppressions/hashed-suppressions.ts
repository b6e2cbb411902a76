/**
 * Suppressions and refused topics of erased users, which are kept only as keyed hashes.
 *
 * A hash becomes a row in plain text again as soon as a user of the project has the address or the id. That user's address is stored then
 * in any case. So no user of a project matches a hash, and the send checks need to compare none.
 */

import { hashTargets, restoreTargets } from './erased.ts';
import { endForTargets, formsOf } from './suppress.ts';
import type { Model } from '../../rules/index.ts';
import {
  type ClearTarget,
  listHashingProjects,
  type SuppressionTarget,
  type SuppressionHasher,
  takeSendLock,
} from '../../sending/index.ts';
import { type ChangedPerson, findByAddress, type PersonId } from '../../users/index.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { takeProjectLock } from '../../../platform/locks/project-lock.ts';
import { incrementModel } from '../../../platform/locks/store.ts';
import { normaliseAddress } from '../../../platform/net/address.ts';
import { findLift, findSuppression, type LiftedSuppression } from './reads.ts';
import type { StoredSuppression } from './entries.ts';

type ErasureInput = PersonId & { hasher: SuppressionHasher; addresses: string[]; now: number };

/**
 * Replaces a user's suppressions with hashes. The caller holds the project lock and deletes the user's row afterwards. An address that
 * another user of the project has stays as it is: it is that user's too, and is hashed when they are erased. Returns how many rows in plain
 * text were replaced.
 */
export async function hashErased(
  tx: Tx,
  { projectId, userId, hasher, addresses, now }: ErasureInput,
): Promise<number> {
  const ownAddresses = await withoutShared(tx, { projectId, userId }, [
    ...new Set(addresses.map(normaliseAddress)),
  ]);
  const targets: ClearTarget[] = [
    { projectId, kind: 'user', value: userId },
    ...ownAddresses.map((value) => ({ projectId, kind: 'email' as const, value })),
  ];
  const wasHashing = (await listHashingProjects(tx, [projectId])).has(projectId);
  const hashed = await hashTargets(tx, { hasher, targets, now });
  // From here on new addresses of this project are compared with its hashes.
  if (hashed > 0 && !wasHashing) await incrementModel(tx, projectId);
  return hashed;
}

async function withoutShared(
  tx: Tx,
  { projectId, userId }: PersonId,
  addresses: string[],
): Promise<string[]> {
  const having = await findByAddress(tx, projectId, addresses.flatMap(formsOf));
  const ofOthers = new Set(
    having.filter((user) => user.userId !== userId).map(({ email }) => normaliseAddress(email)),
  );
  return addresses.filter((address) => !ofOthers.has(address));
}

type ReturnInput = {
  hasher: SuppressionHasher;
  changed: ChangedPerson[];
  models: ReadonlyMap<number, Pick<Model, 'hasHashes'>>;
  now: number;
};

/** Restores hashes that match users whom a batch created, or whose address it changed, to rows in plain text. */
export async function restoreReturned(tx: Tx, { hasher, changed, models, now }: ReturnInput): Promise<void> {
  const targets = changed
    .filter(({ person }) => models.get(person.projectId)?.hasHashes)
    .flatMap(targetsOfReturned);
  if (targets.length > 0) await restoreTargets(tx, { hasher, targets, now });
}

function targetsOfReturned({ person: { projectId, userId, email }, change }: ChangedPerson): ClearTarget[] {
  const targets: ClearTarget[] = [];
  if (change.isNew) targets.push({ projectId, kind: 'user', value: userId });
  if (change.emailChanged && email !== null) targets.push({ projectId, kind: 'email', value: email });
  return targets;
}

/** An entry of the suppression list for an address or id that a member typed. It is in plain text, or the hash of an erased user. */
export type TypedEntry = {
  /** The longer-lasting entry if there are two. */
  suppression: StoredSuppression | undefined;
  /** The entry that was lifted last. */
  lift: LiftedSuppression | undefined;
  /** All places to read and to lift. */
  targets: [SuppressionTarget, SuppressionTarget];
};

export async function findTypedEntry(
  tx: Tx,
  hasher: SuppressionHasher,
  target: ClearTarget,
): Promise<TypedEntry> {
  const hashed = hasher.hash(target);
  const found = [await findSuppression(tx, target), await findSuppression(tx, hashed)];
  const lifts = [await findLift(tx, target), await findLift(tx, hashed)];
  const [suppression] = found
    .flatMap((entry) => entry ?? [])
    .toSorted((a, b) => (b.until ?? Infinity) - (a.until ?? Infinity) || 0);
  const [lift] = lifts.flatMap((entry) => entry ?? []).toSorted((a, b) => b.liftedAt - a.liftedAt);
  return { suppression, lift, targets: [target, hashed] };
}

type MatchInput = { projectId: number; hasher: SuppressionHasher; actor: string };
type Matched = { drafts: number; runs: number };

/** Hashing takes 3 µs per place, so a page holds the project lock for about ten milliseconds. */
const USERS_AT_ONCE = 1_000;

/**
 * Compares every user of the project with imported hashes. A match becomes a row in plain text, and that user's drafts and runs end. Users
 * who are added in that time are compared when they are processed.
 */
export async function matchHashes(
  db: Pick<Database, 'query' | 'prepared' | 'transaction' | 'clock'>,
  input: MatchInput,
): Promise<Matched> {
  const { projectId } = input;
  const total: Matched = { drafts: 0, runs: 0 };
  let page = await listAddressed(db, { projectId, after: null, limit: USERS_AT_ONCE });
  while (page.length > 0) {
    const ended = await matchPage(db, input, page);
    total.drafts += ended.drafts;
    total.runs += ended.runs;
    const after = page.at(-1)?.userId ?? null;
    page = await listAddressed(db, { projectId, after, limit: USERS_AT_ONCE });
  }
  return total;
}

function matchPage(
  db: Pick<Database, 'transaction' | 'clock'>,
  { projectId, hasher, actor }: MatchInput,
  users: { userId: string; email: string | null }[],
): Promise<Matched> {
  const targets = users.flatMap(({ userId, email }): ClearTarget[] => [
    { projectId, kind: 'user', value: userId },
    ...(email === null ? [] : [{ projectId, kind: 'email' as const, value: email }]),
  ]);
  return db.transaction(async (tx) => {
    await takeProjectLock(tx, projectId);
    await takeSendLock(tx, projectId);
    const now = db.clock.now();
    const restored = await restoreTargets(tx, { hasher, targets, now });
    return restored.length === 0
      ? { drafts: 0, runs: 0 }
      : endForTargets(tx, projectId, { targets: restored, now, actor });
  });
}

/** Lists users of a project by id, with only their address. Reads tables of the users module. */
function listAddressed(
  tx: Tx,
  { projectId, after, limit }: { projectId: number; after: string | null; limit: number },
): Promise<{ userId: string; email: string | null }[]> {
  return tx.query(
    `SELECT p.external_user_id AS "userId", e.email FROM beckon.person p
     LEFT JOIN beckon.person_email e ON e.project_id = p.project_id AND e.external_user_id = p.external_user_id
     WHERE p.project_id = $1 AND ($2::text IS NULL OR p.external_user_id > $2) ORDER BY p.external_user_id LIMIT $3`,
    [projectId, after, limit],
  );
}
