import { iso } from '../base/clock.ts';
import type { NewId } from '../base/ids.ts';
import { advanceBuild, eraseStandings, listAudiences, loadModels } from '../features/audiences/index.ts';
import { eraseDecisions } from '../features/decisions/index.ts';
import { eraseDrafts, listOpenOfPeople } from '../features/drafts/index.ts';
import { listEndpoints, lockEndpoints } from '../features/endpoints/index.ts';
import { leaveEnrollments } from '../features/enrollments/index.ts';
import { eraseEvents, leaveCounting } from '../features/events/index.ts';
import { eraseDead, lockQueue, oldestWaiting } from '../features/inbox/index.ts';
import { eraseMail } from '../features/test-inbox/index.ts';
import { eraseHits, eraseOutcomes } from '../features/outcomes/index.ts';
import {
  erasePersonRows,
  findEmails,
  idBefore,
  isStorable,
  type PersonId,
  personKey,
  rememberErasure,
  unknownPerson,
} from '../features/people/index.ts';
import { eraseReplies } from '../features/replies/index.ts';
import { eraseRuleRows } from '../features/rules/index.ts';
import { eraseMessages } from '../features/sending/index.ts';
import { eraseRuns } from '../features/sequences/index.ts';
import { addChanges, eraseChanges } from '../features/stream/index.ts';
import type { SuppressionHasher } from '../features/suppressions/index.ts';
import { newModel, takeTurn } from '../features/turns/index.ts';
import { eraseViews } from '../features/views/index.ts';
import { eraseWebhooks } from '../features/webhooks/index.ts';
import { eraseWording } from '../features/wording/index.ts';
import type { Database, Tx } from '../io/db/index.ts';
import { hashErased } from './erased-suppressions.ts';
import { eraseImported } from './imports/erase-imported.ts';

/** How many rows of each table are gone. */
export type Removed = {
  person: number;
  person_email: number;
  event: number;
  person_event: number;
  audience_member: number;
  audience_due: number;
  change: number;
  dead_letter: number;
  /** With all their moves, and what a model made of them. */
  draft: number;
  message: number;
  /** What the outbox kept of them. */
  test_inbox_email: number;
  /** Who fetched what of their letters; what became of these, and what they answered. */
  hit: number;
  outcome: number;
  reply: number;
  /** What endpoints were told of them: the messages stay, without a word in them. */
  webhook_message: number;
  run: number;
  decision: number;
  rule_entry: number;
  rule_timer: number;
  /** Suppressions and refused topics in plain text. Those that are in force stay as keyed hashes. */
  suppression: number;
  /** Of files that are to be imported, of what was read of Stripe, and of what was rejected. */
  import_row: number;
};

export type ErasedPerson = {
  external_user_id: string;
  erased_at: string;
  /** Whatever was accepted of this person before this sequence is gone, or dropped as soon as its turn comes. */
  seq: number;
  removed: Removed;
};

export type EraseDeps = {
  db: Pick<Database, 'transaction' | 'clock'>;
  newId: NewId;
  hasher: SuppressionHasher;
};

/**
 * Removes all that is known of a person, and says what it was. One transaction under the project's turn, so that nothing
 * about them is digested meanwhile. The queue row is locked after everything that may take long, because accepting waits for
 * it: what is accepted until then belongs to what is erased, what is accepted later makes a new person.
 *
 * What waits in the inbox is packed, so nobody knows whether something of theirs is among it. Where anything waits, the
 * erasure is recorded and what it concerns is dropped at its digest, even if nothing is known of them yet: that they were
 * only just sent is the likely reason. Where nothing waits there is nothing to drop, and the id is kept nowhere; and if
 * nothing was found either, the fault says so, for then the id was most likely mistyped.
 *
 * `event_dedupe` stays: hashes that lead back to nobody, by which an erased history that is sent once more has no effect.
 * What others sent about others is theirs, even where it names this person in a property. A suppression of their address and
 * the topics that it refused stay as keyed hashes, so that a new user with this address gets no email that its owner did not
 * want. A letter that is being handed over just now cannot be called back.
 */
export function erasePerson({ db, newId, hasher }: EraseDeps, wanted: PersonId): Promise<ErasedPerson> {
  return db.transaction(async (tx) => {
    const { projectId, userId } = wanted;
    if (!isStorable(userId)) throw unknownPerson(userId);
    // In front of the turn, for which others wait: a file may be long.
    const email = (await findEmails(tx, [wanted])).get(personKey(wanted)) ?? null;
    const importRow = await eraseImported(tx, { ...wanted, email });
    await takeTurn(tx, projectId);
    const now = db.clock.now();
    const hash = (addresses: string[]): Promise<number> =>
      hashErased(tx, { ...wanted, hasher, addresses, now });
    const known = await removeKnown(tx, wanted, { now: new Date(now), hash });
    const removed: Removed = { ...known, import_row: importRow };
    const { next_seq: seq } = await lockQueue(tx, projectId);
    // Under the queue row: letters that somebody lets wait again at this moment are either here or before the sequence.
    removed.dead_letter = await eraseDead(tx, projectId, userId);
    const isKnown = Object.values(removed).some((rows) => rows > 0);
    const somethingWaits = await waits(tx, projectId);
    if (!isKnown && !somethingWaits) throw unknownPerson(userId);
    const at = new Date(db.clock.now());
    if (somethingWaits) await rememberErasure(tx, { projectId, userId, seq, at });
    if (isKnown) {
      const detail = JSON.stringify({ removed });
      await addChanges(tx, [
        { projectId, at, id: newId(), kind: 'user_erased', userId: null, audienceId: null, detail },
      ]);
    }
    return { external_user_id: userId, erased_at: iso(at.getTime()), seq, removed };
  });
}

/** `hash` replaces what is suppressed at these addresses, and at the user, by hashes. */
type Removing = { now: Date; hash: (addresses: string[]) => Promise<number> };

async function removeKnown(
  tx: Tx,
  wanted: PersonId,
  { now, hash }: Removing,
): Promise<Omit<Removed, 'import_row'>> {
  const { projectId, userId } = wanted;
  const events = await eraseEvents(tx, wanted);
  const standings = await eraseStandings(tx, { projectId, userId, now });
  const change = await eraseChanges(tx, projectId, userId);
  const { addresses, ...letters } = await removeLetters(tx, wanted);
  const email = (await findEmails(tx, [wanted])).get(personKey(wanted)) ?? null;
  // Behind the messages, which whoever records a bounce has locked when they suppress an address.
  const suppression = await hash(email === null ? addresses : [...addresses, email]);
  await eraseViews(tx, { projectId, userId, email });
  const people = await erasePersonRows(tx, wanted);
  await leavePlaces(tx, wanted);
  const webhooks = await removeWebhooks(tx, wanted, now.getTime());
  return {
    ...people,
    ...events,
    audience_member: standings.members,
    audience_due: standings.dues,
    change,
    dead_letter: 0,
    ...letters,
    suppression,
    webhook_message: webhooks,
  };
}

/** Drafts are locked before runs, in the order of their ids, by everybody who needs both. */
async function removeLetters(tx: Tx, wanted: PersonId): Promise<RemovedLetters & { addresses: string[] }> {
  // Whoever is about to make an outcome of a hit holds its count, and then wants drafts and messages.
  const hits = await eraseHits(tx, wanted);
  await listOpenOfPeople(tx, [wanted]);
  const draft = await eraseDrafts(tx, wanted);
  await eraseWording(tx, wanted);
  const { count: message, addresses } = await eraseMessages(tx, wanted);
  // Behind the messages, for which a letter that is just leaving or arriving holds this up.
  const mail = await eraseMail(tx, wanted);
  const became = await removeOutcomes(tx, wanted);
  const run = await eraseRuns(tx, wanted);
  const decision = await eraseDecisions(tx, wanted);
  const { entries, timers } = await eraseRuleRows(tx, wanted);
  return {
    addresses,
    draft,
    message,
    test_inbox_email: mail,
    ...became,
    hit: hits + became.hit,
    run,
    decision,
    rule_entry: entries,
    rule_timer: timers,
  };
}

type RemovedLetters = Pick<
  Removed,
  'draft' | 'message' | 'test_inbox_email' | 'run' | 'decision' | 'rule_entry' | 'rule_timer'
> &
  RemovedOutcomes;

type RemovedOutcomes = Pick<Removed, 'hit' | 'outcome' | 'reply'>;

/** Behind the messages too, which whoever writes one of these holds. */
async function removeOutcomes(tx: Tx, wanted: PersonId): Promise<RemovedOutcomes> {
  return {
    hit: await eraseHits(tx, wanted),
    outcome: await eraseOutcomes(tx, wanted),
    reply: await eraseReplies(tx, wanted),
  };
}

/**
 * Whoever records what an endpoint answered has its health locked, and keeps no answer of what is erased: they wait for this,
 * or this for them. They may be recording for others in the same commit, so it comes late.
 */
async function removeWebhooks(tx: Tx, wanted: PersonId, at: number): Promise<number> {
  const { projectId } = wanted;
  const endpoints = await listEndpoints(tx, projectId);
  await lockEndpoints(
    tx,
    endpoints.map(({ endpoint }) => ({ projectId, endpointId: endpoint.id })),
  );
  return eraseWebhooks(tx, { ...wanted, at });
}

/** What goes through all people in the background says how far it came by an id: it says so by the one before, if it was this. */
async function leavePlaces(tx: Tx, { projectId, userId }: PersonId): Promise<void> {
  const before = await idBefore(tx, { projectId, userId });
  const wasCounting = await leaveCounting(tx, { projectId, userId, before });
  await leaveEnrollments(tx, { projectId, userId, before });
  const model = (await loadModels(tx, [projectId])).get(projectId);
  const building = (model?.editions ?? []).filter(
    ({ state, builtTo }) => state === 'building' && builtTo === userId,
  );
  if (building.length > 0) {
    const audiences = new Map((await listAudiences(tx, projectId)).map((one) => [one.id, one]));
    for (const { edition, audienceId } of building) {
      const built = audiences.get(audienceId)?.progress?.built ?? 0;
      // No id is empty, so this comes before everybody.
      await advanceBuild(tx, { projectId, edition, builtTo: before ?? '', built });
    }
  }
  if (wasCounting || building.length > 0) await newModel(tx, projectId);
}

async function waits(tx: Tx, projectId: number): Promise<boolean> {
  const [live, bulk] = [
    await oldestWaiting(tx, [projectId], 'live'),
    await oldestWaiting(tx, [projectId], 'bulk'),
  ];
  return live.size > 0 || bulk.size > 0;
}
