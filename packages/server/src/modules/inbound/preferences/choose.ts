import type { UnsubscribeMethod } from '@beckon/contract';
import { type EmailRecipient, type EmailPreferences, standingOf } from './show-preferences.ts';
import {
  applyOutcomes,
  concernedBy,
  liftIn,
  type Note,
  suppressIn,
  tellOutcomes,
} from '../../outcomes/index.ts';
import {
  findMessageById,
  hasUnsubscribed,
  liftSuppressions,
  listInForce,
  SAID_BY_RECIPIENT,
  setRefusals,
  type SuppressedPlace,
  takeSendTurn,
  withdrawClaims,
} from '../../sending/index.ts';
import { listSettings } from '../../workspace/index.ts';
import type { EmailName } from '../../../platform/crypto/email-token.ts';
import type { Database } from '../../../platform/db/database.ts';
import { isCollision } from '../../../platform/db/errors.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import type { NewId } from '../../../platform/ids.ts';
import { inTimeOf, takeTurn, timed } from '../../../platform/locks/project-lock.ts';
import type { Log } from '../../../platform/log.ts';

/** The periods in days for which a recipient can pause emails. */
export const SNOOZE_DAYS = [30, 60, 90] as const;
type SnoozeDays = (typeof SNOOZE_DAYS)[number];

/** A decision of a recipient, made through an email that they received. */
export type Choice =
  | { kind: 'unsubscribe'; method: Exclude<UnsubscribeMethod, 'complaint'> }
  /** Reverts earlier choices and a complaint. A bounced address is not affected. */
  | { kind: 'resubscribe' }
  /** The project's topics that the recipient does not want; all others are wanted. */
  | { kind: 'topics'; refused: string[] }
  | { kind: 'snooze'; days: SnoozeDays };

export type ChoiceDeps = { db: Database; newId: NewId; log: Log };

const DAY_MS = 86_400_000;
/** The actor name in the decision log and the suppression list. */
const RECIPIENT = 'recipient';

/**
 * Applies a recipient's choice. It is in force when this returns, also for emails claimed a moment ago. Under both locks of the project, no
 * run begins and no email is claimed. Idempotent. Returns the resulting preferences; null if the email is unknown, so that there is nothing
 * to change.
 */
export async function choose(
  deps: ChoiceDeps,
  email: EmailName,
  choice: Choice,
): Promise<EmailPreferences | null> {
  const known = await findMessageById(deps.db, email);
  if (!known) return null;
  const settled = choice.kind === 'unsubscribe' ? await settledStanding(deps.db, email, known) : null;
  return settled ?? makeChoice(deps, email, choice);
}

/** Retries on deadlock. */
const TRIES = 4;

async function makeChoice(
  deps: ChoiceDeps,
  email: EmailName,
  choice: Choice,
): Promise<EmailPreferences | null> {
  const { projectId, messageId } = email;
  for (let tried = 1; ; tried += 1) {
    try {
      const made = await makeOnce(deps, email, choice);
      if (!made) return null;
      for (const { event, ...fields } of made.notes)
        deps.log.warn({ project_id: projectId, ...fields }, event);
      deps.log.info(
        { project_id: projectId, email_id: messageId, change: choice.kind },
        'preferences.changed',
      );
      return await standingOf(deps.db, made.recipient, made.now);
    } catch (error) {
      if (tried === TRIES || !isCollision(error)) throw error;
    }
  }
}

/** `notes` are the entries to log. */
type Made = { recipient: EmailRecipient; notes: Note[]; now: number };

function makeOnce({ db, newId }: ChoiceDeps, email: EmailName, choice: Choice): Promise<Made | null> {
  const { projectId } = email;
  return db.transaction(async (tx) => {
    const { aheadMs } = await takeTurn(tx, projectId);
    await takeSendTurn(tx, projectId);
    const found = await findMessageById(tx, email);
    if (!found) return null;
    const recipient = { projectId, ...found };
    const own = timed({ db, newId }, aheadMs);
    const now = own.db.clock.now();
    const notes = await make({ tx, email, now, aheadMs, newId: own.newId, recipient }, choice);
    return { recipient, notes, now };
  });
}

/**
 * Returns the preferences if the whole choice was made before; otherwise null. Email programs, and anyone who has the link, may repeat an
 * unsubscribe as often as they like. A repetition must not take the project lock from real work.
 */
async function settledStanding(
  db: Database,
  email: EmailName,
  found: Omit<EmailRecipient, 'projectId'>,
): Promise<EmailPreferences | null> {
  const recipient = { projectId: email.projectId, userId: found.userId, address: found.address };
  const now = (await inTimeOf({ db }, recipient.projectId)).db.clock.now();
  const inForce = await listInForce(db, { ...recipient, now });
  const own = inForce.filter(
    ({ reason, until }) => until === null && (reason === 'unsubscribed' || reason === 'complained'),
  );
  const isSettled = own.length === PLACES && (await hasUnsubscribed(db, email));
  return isSettled ? standingOf(db, recipient, now) : null;
}

/** The address and the user. */
const PLACES = 2;

type Making = {
  tx: Tx;
  email: EmailName;
  /** The time by the project's clock, which is `aheadMs` ahead. */
  now: number;
  aheadMs: number;
  newId: NewId;
  recipient: EmailRecipient;
};

async function make(making: Making, choice: Choice): Promise<Note[]> {
  switch (choice.kind) {
    case 'unsubscribe':
      return unsubscribe(making, choice.method);
    case 'resubscribe':
      return resubscribe(making);
    case 'topics':
      return chooseTopics(making, choice.refused);
    case 'snooze':
      return snooze(making, choice.days);
    default:
      return choice satisfies never;
  }
}

type Unsubscribe = Extract<Choice, { kind: 'unsubscribe' }>;

/** Records an outcome of the email the first time only; the consequences are applied each time. */
async function unsubscribe(making: Making, method: Unsubscribe['method']): Promise<Note[]> {
  const { tx, email, now, aheadMs, newId } = making;
  const happened = [{ ...email, occurredAt: now, type: 'email.unsubscribed' as const, method }];
  const applied = await applyOutcomes(tx, email.projectId, { happened, now, newId, aheadMs });
  await tellOutcomes(tx, [applied]);
  return applied.notes;
}

async function resubscribe({ tx, now, recipient }: Making): Promise<Note[]> {
  const places = placesOf(recipient);
  await liftIn(tx, recipient.projectId, { places, reasons: SAID_BY_RECIPIENT, now, actor: RECIPIENT });
  return [];
}

/** Keeps choices about a topic that the project no longer has, because the topic may come back. */
async function chooseTopics({ tx, now, recipient }: Making, chosen: string[]): Promise<Note[]> {
  const { projectId } = recipient;
  const project = (await listSettings(tx, [projectId])).get(projectId);
  const topics = (project?.settings.topics ?? []).map(({ id }) => id);
  const refused = topics.filter((id) => chosen.includes(id));
  const wanted = topics.filter((id) => !chosen.includes(id));
  const places = placesOf(recipient);
  await setRefusals(tx, { places, refused, wanted, at: now });
  const users = (await concernedBy(tx, projectId, places)).map(({ userId }) => userId);
  await withdrawClaims(tx, { projectId, users });
  return [];
}

/**
 * Snoozes the user, so that a new address changes nothing, and the address, so that all users of the mailbox are left alone. A shorter
 * pause replaces a longer one, because the recipient decides.
 */
async function snooze({ tx, now, recipient }: Making, days: number): Promise<Note[]> {
  const { projectId } = recipient;
  const places = placesOf(recipient);
  await liftSuppressions(tx, { places, reasons: ['snoozed'], at: now, by: RECIPIENT });
  const what = {
    reason: 'snoozed' as const,
    until: now + days * DAY_MS,
    createdAt: now,
    createdBy: RECIPIENT,
  };
  const wanted = places.map(({ kind, value }) => ({ kind, value, ...what }));
  await suppressIn(tx, projectId, { wanted, now, actor: RECIPIENT });
  return [];
}

function placesOf({ projectId, userId, address }: EmailRecipient): SuppressedPlace[] {
  return [
    { projectId, kind: 'email', value: address },
    { projectId, kind: 'user', value: userId },
  ];
}
