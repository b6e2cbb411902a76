import { iso } from '../../platform/time/clock.ts';
import type { NewId } from '../../platform/ids.ts';
import { advanceBuild, eraseMemberships, listAudiences, loadModels } from '../audiences/index.ts';
import { eraseRuleRows, leaveEnrollments } from '../rules/index.ts';
import { eraseDraftRows, listOpenOfPeople } from '../drafts/index.ts';
import { listEndpoints, lockEndpoints, eraseWebhooks } from '../webhooks/index.ts';
import {
  eraseEvents,
  leaveCounting,
  erasePersonRows,
  idBefore,
  rememberErasure,
  findEmails,
  isStorable,
  unknownPerson,
  type PersonId,
  personKey,
} from '../users/index.ts';
import { eraseDead, lockQueue, oldestWaiting, insertActivity, eraseActivity } from '../ingest/index.ts';
import { deleteEmails as eraseEmails, type SuppressionHasher } from '../sending/index.ts';
import { eraseOutcomes, hashErased } from '../outcomes/index.ts';
import { eraseReplies, eraseHits } from '../inbound/index.ts';
import { takeProjectLock } from '../../platform/locks/project-lock.ts';
import { incrementModel } from '../../platform/locks/store.ts';
import { eraseViews } from './views/views.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { eraseImported } from '../imports/index.ts';
import { deleteMailOf as eraseMail } from '../review/index.ts';

/** The number of removed rows per table. */
export type RemovedRows = {
  person: number;
  person_email: number;
  event: number;
  person_event: number;
  audience_member: number;
  audience_timer: number;
  activity: number;
  dead_letter: number;
  /** Includes their moves and AI drafts. */
  draft: number;
  email: number;
  /** Emails of the user kept in the test inbox. */
  test_inbox_email: number;
  /** Tracked hits of their emails, then the outcomes, and the user's replies. */
  hit: number;
  outcome: number;
  reply: number;
  /** Webhook messages about the user: the rows stay, without content. */
  webhook: number;
  run: number;
  decision: number;
  enrollment_record: number;
  rule_timer: number;
  /** Suppressions and refused topics in plain text. If they are in force, they stay as keyed hashes. */
  suppression: number;
  /** Rows of files to import, of data read from Stripe, and rejected rows. */
  import_row: number;
};

export type ErasureReport = {
  external_user_id: string;
  erased_at: string;
  /** Records about this user accepted before this sequence are gone, or dropped when they are processed. */
  seq: number;
  removed: RemovedRows;
};

export type EraseDeps = {
  db: Pick<Database, 'transaction' | 'clock'>;
  newId: NewId;
  hasher: SuppressionHasher;
};

/**
 * Removes all data about a user, and returns what was removed. It is one transaction under the project lock, so that nothing about the user
 * is processed during it. The queue row is locked after everything that may take long, because accepting waits for it. Records accepted
 * before that are erased; later ones create a new user.
 *
 * Waiting records in the ingest queue are packed, so it is unknown whether any concern the user. If any records wait, the erasure is recorded, and
 * records about the user are dropped when they are processed. This holds even if the user is unknown, because their first records may just
 * have been sent. If no records wait, there is nothing to drop, and the id is kept nowhere. If nothing was found either, the error says so,
 * because the id was probably mistyped.
 *
 * `event_dedupe` is kept: its hashes identify no user, and make an erased history without effect if it is sent again. Records about other
 * users belong to them, even if a property names this user. A suppression of the address, and the topics that it refused, are kept as keyed
 * hashes. A new user with this address therefore gets no email that its owner did not want. An email that is being sent at this moment
 * cannot be recalled.
 */
export function erasePerson({ db, newId, hasher }: EraseDeps, person: PersonId): Promise<ErasureReport> {
  return db.transaction(async (tx) => {
    const { projectId, userId } = person;
    if (!isStorable(userId)) throw unknownPerson(userId);
    // This runs before the project lock, for which others wait, because a file may be long.
    const email = (await findEmails(tx, [person])).get(personKey(person)) ?? null;
    const importRow = await eraseImported(tx, { ...person, email });
    await takeProjectLock(tx, projectId);
    const now = db.clock.now();
    const hash = (addresses: string[]): Promise<number> =>
      hashErased(tx, { ...person, hasher, addresses, now });
    const counts = await removeData(tx, person, { now: new Date(now), hash });
    const removed: RemovedRows = { ...counts, import_row: importRow };
    const { next_seq: seq } = await lockQueue(tx, projectId);
    // Under the lock of the queue row, dead letters retried at this moment are either still here or have a lower sequence.
    removed.dead_letter = await eraseDead(tx, projectId, userId);
    const isKnown = Object.values(removed).some((rows) => rows > 0);
    const somethingWaits = await hasWaiting(tx, projectId);
    if (!isKnown && !somethingWaits) throw unknownPerson(userId);
    const at = new Date(db.clock.now());
    if (somethingWaits) await rememberErasure(tx, { projectId, userId, seq, at });
    if (isKnown) {
      const detail = JSON.stringify({ removed });
      await insertActivity(tx, [
        { projectId, at, id: newId(), kind: 'user_erased', userId: null, audienceId: null, detail },
      ]);
    }
    return { external_user_id: userId, erased_at: iso(at.getTime()), seq, removed };
  });
}

/** `hash` replaces suppressions of these addresses, and of the user, with hashes. */
type RemovalContext = { now: Date; hash: (addresses: string[]) => Promise<number> };

async function removeData(
  tx: Tx,
  person: PersonId,
  { now, hash }: RemovalContext,
): Promise<Omit<RemovedRows, 'import_row'>> {
  const { projectId, userId } = person;
  const events = await eraseEvents(tx, person);
  const memberships = await eraseMemberships(tx, { projectId, userId, now });
  const activity = await eraseActivity(tx, projectId, userId);
  const { addresses, ...emails } = await removeEmails(tx, person);
  const email = (await findEmails(tx, [person])).get(personKey(person)) ?? null;
  // After the email rows, which a process that records a bounce has locked when it suppresses an address.
  const suppression = await hash(email === null ? addresses : [...addresses, email]);
  await eraseViews(tx, { projectId, userId, email });
  const people = await erasePersonRows(tx, person);
  await moveProgressBack(tx, person);
  const webhooks = await removeWebhooks(tx, person, now.getTime());
  return {
    ...people,
    ...events,
    audience_member: memberships.members,
    audience_timer: memberships.timers,
    activity,
    dead_letter: 0,
    ...emails,
    suppression,
    webhook: webhooks,
  };
}

/** Removes the user's emails. Drafts are locked before runs, in id order, by everything that needs both. */
async function removeEmails(tx: Tx, person: PersonId): Promise<RemovedEmails & { addresses: string[] }> {
  // Hits come first, because a process that turns a hit into an outcome locks its count before drafts and emails.
  const hits = await eraseHits(tx, person);
  await listOpenOfPeople(tx, [person]);
  const draft = await eraseDraftRows(tx, person);
  const { count: email, addresses } = await eraseEmails(tx, person);
  // After the email rows, whose locks wait for an email that is being sent or received.
  const mail = await eraseMail(tx, person);
  const outcomes = await removeOutcomes(tx, person);
  const ruleRows = await eraseRuleRows(tx, person);
  return {
    addresses,
    draft,
    email,
    test_inbox_email: mail,
    ...outcomes,
    hit: hits + outcomes.hit,
    ...ruleRows,
  };
}

type RemovedEmails = Pick<
  RemovedRows,
  'draft' | 'email' | 'test_inbox_email' | 'run' | 'decision' | 'enrollment_record' | 'rule_timer'
> &
  RemovedOutcomes;

type RemovedOutcomes = Pick<RemovedRows, 'hit' | 'outcome' | 'reply'>;

/** Removes outcomes after the email rows too, because a process that writes an outcome holds their lock. */
async function removeOutcomes(tx: Tx, person: PersonId): Promise<RemovedOutcomes> {
  return {
    hit: await eraseHits(tx, person),
    outcome: await eraseOutcomes(tx, person),
    reply: await eraseReplies(tx, person),
  };
}

/**
 * Removes the content of webhooks. A process that records an endpoint's answer holds the lock of its health, and keeps no answer about an
 * erased user. One of the two therefore waits for the other. That process may record for other users in the same commit, so this comes
 * late.
 */
async function removeWebhooks(tx: Tx, person: PersonId, at: number): Promise<number> {
  const { projectId } = person;
  const endpoints = await listEndpoints(tx, projectId);
  await lockEndpoints(
    tx,
    endpoints.map(({ endpoint }) => ({ projectId, endpointId: endpoint.id })),
  );
  return eraseWebhooks(tx, { ...person, at });
}

/** Moves the progress of background passes over all users from this user's id to the id before. */
async function moveProgressBack(tx: Tx, { projectId, userId }: PersonId): Promise<void> {
  const before = await idBefore(tx, { projectId, userId });
  const wasCounting = await leaveCounting(tx, { projectId, userId, before });
  await leaveEnrollments(tx, { projectId, userId, before });
  const model = (await loadModels(tx, [projectId])).get(projectId);
  const building = (model?.versions ?? []).filter(
    ({ state, builtTo }) => state === 'building' && builtTo === userId,
  );
  if (building.length > 0) {
    const audiences = new Map(
      (await listAudiences(tx, projectId)).map((audience) => [audience.id, audience]),
    );
    for (const { versionId, audienceId } of building) {
      const built = audiences.get(audienceId)?.progress?.built ?? 0;
      // No id is empty, so the empty string sorts before all users.
      await advanceBuild(tx, { projectId, versionId, builtTo: before ?? '', built });
    }
  }
  if (wasCounting || building.length > 0) await incrementModel(tx, projectId);
}

async function hasWaiting(tx: Tx, projectId: number): Promise<boolean> {
  const [live, bulk] = [
    await oldestWaiting(tx, [projectId], 'live'),
    await oldestWaiting(tx, [projectId], 'bulk'),
  ];
  return live.size > 0 || bulk.size > 0;
}
