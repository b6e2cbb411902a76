import type { UnsubscribeMethod } from '@beckon/contract';
import { type EmailRecipient, type EmailPreferences, emailPreferences } from './show-preferences.ts';
import {
  applyOutcomes,
  concernedBy,
  liftIn,
  type Note,
  suppressIn,
  reportOutcomes,
  liftSuppressions,
  RECIPIENT_REASONS,
  setTopicUnsubscribes,
} from '../../outcomes/index.ts';
import { listInForce, type SuppressionTarget, takeSendLock, withdrawClaims } from '../../sending/index.ts';
import { listSettings } from '../../workspace/index.ts';
import type { EmailName } from '../../../platform/crypto/email-token.ts';
import type { Database } from '../../../platform/db/database.ts';
import { isCollision } from '../../../platform/db/errors.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import type { NewId } from '../../../platform/ids.ts';
import { withProjectClock, takeProjectLock, withClockAhead } from '../../../platform/locks/project-lock.ts';
import type { Log } from '../../../platform/log.ts';
import { findEmailById } from '../../delivery/index.ts';

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
  const existing = await findEmailById(deps.db, email);
  if (!existing) return null;
  const unchanged =
    choice.kind === 'unsubscribe' ? await preferencesIfUnchanged(deps.db, email, existing) : null;
  return unchanged ?? makeChoice(deps, email, choice);
}

/** Retries on deadlock. */
const TRIES = 4;

async function makeChoice(
  deps: ChoiceDeps,
  email: EmailName,
  choice: Choice,
): Promise<EmailPreferences | null> {
  const { projectId, emailId } = email;
  for (let tried = 1; ; tried += 1) {
    try {
      const applied = await makeOnce(deps, email, choice);
      if (!applied) return null;
      for (const { event, ...fields } of applied.notes)
        deps.log.warn({ project_id: projectId, ...fields }, event);
      deps.log.info({ project_id: projectId, email_id: emailId, change: choice.kind }, 'preferences.changed');
      return await emailPreferences(deps.db, applied.recipient, applied.now);
    } catch (error) {
      if (tried === TRIES || !isCollision(error)) throw error;
    }
  }
}

/** `notes` are the entries to log. */
type AppliedChoice = { recipient: EmailRecipient; notes: Note[]; now: number };

function makeOnce(
  { db, newId }: ChoiceDeps,
  email: EmailName,
  choice: Choice,
): Promise<AppliedChoice | null> {
  const { projectId } = email;
  return db.transaction(async (tx) => {
    const { aheadMs } = await takeProjectLock(tx, projectId);
    await takeSendLock(tx, projectId);
    const found = await findEmailById(tx, email);
    if (!found) return null;
    const recipient = { projectId, ...found };
    const projectDeps = withClockAhead({ db, newId }, aheadMs);
    const now = projectDeps.db.clock.now();
    const notes = await applyChoice({ tx, email, now, aheadMs, newId: projectDeps.newId, recipient }, choice);
    return { recipient, notes, now };
  });
}

/**
 * Returns the preferences if the whole choice was made before; otherwise null. Email programs, and anyone who has the link, may repeat an
 * unsubscribe as often as they like. A repetition must not take the project lock from real work.
 */
async function preferencesIfUnchanged(
  db: Database,
  email: EmailName,
  found: Omit<EmailRecipient, 'projectId'>,
): Promise<EmailPreferences | null> {
  const recipient = { projectId: email.projectId, userId: found.userId, address: found.address };
  const now = (await withProjectClock({ db }, recipient.projectId)).db.clock.now();
  const inForce = await listInForce(db, { ...recipient, now });
  const suppressions = inForce.filter(
    ({ reason, until }) => until === null && (reason === 'unsubscribed' || reason === 'complained'),
  );
  const isSettled = suppressions.length === TARGETS && (await hasUnsubscribed(db, email));
  return isSettled ? emailPreferences(db, recipient, now) : null;
}

/** The address and the user. */
const TARGETS = 2;

type ChoiceContext = {
  tx: Tx;
  email: EmailName;
  /** The time by the project's clock, which is `aheadMs` ahead. */
  now: number;
  aheadMs: number;
  newId: NewId;
  recipient: EmailRecipient;
};

async function applyChoice(context: ChoiceContext, choice: Choice): Promise<Note[]> {
  switch (choice.kind) {
    case 'unsubscribe':
      return unsubscribe(context, choice.method);
    case 'resubscribe':
      return resubscribe(context);
    case 'topics':
      return chooseTopics(context, choice.refused);
    case 'snooze':
      return snooze(context, choice.days);
    default:
      return choice satisfies never;
  }
}

type Unsubscribe = Extract<Choice, { kind: 'unsubscribe' }>;

/** Records an outcome of the email the first time only; the consequences are applied each time. */
async function unsubscribe(context: ChoiceContext, method: Unsubscribe['method']): Promise<Note[]> {
  const { tx, email, now, aheadMs, newId } = context;
  const happened = [{ ...email, occurredAt: now, type: 'email.unsubscribed' as const, method }];
  const applied = await applyOutcomes(tx, email.projectId, { outcomes: happened, now, newId, aheadMs });
  await reportOutcomes(tx, [applied]);
  return applied.notes;
}

async function resubscribe({ tx, now, recipient }: ChoiceContext): Promise<Note[]> {
  const targets = targetsOf(recipient);
  await liftIn(tx, recipient.projectId, { targets, reasons: RECIPIENT_REASONS, now, actor: RECIPIENT });
  return [];
}

/** Keeps choices about a topic that the project no longer has, because the topic may come back. */
async function chooseTopics({ tx, now, recipient }: ChoiceContext, chosen: string[]): Promise<Note[]> {
  const { projectId } = recipient;
  const project = (await listSettings(tx, [projectId])).get(projectId);
  const topics = (project?.settings.topics ?? []).map(({ id }) => id);
  const refused = topics.filter((id) => chosen.includes(id));
  const accepted = topics.filter((id) => !chosen.includes(id));
  const targets = targetsOf(recipient);
  await setTopicUnsubscribes(tx, { targets, refused, accepted, at: now });
  const users = (await concernedBy(tx, projectId, targets)).map(({ userId }) => userId);
  await withdrawClaims(tx, { projectId, users });
  return [];
}

/**
 * Snoozes the user, so that a new address changes nothing, and the address, so that all users of the mailbox are left alone. A shorter
 * pause replaces a longer one, because the recipient decides.
 */
async function snooze({ tx, now, recipient }: ChoiceContext, days: number): Promise<Note[]> {
  const { projectId } = recipient;
  const targets = targetsOf(recipient);
  await liftSuppressions(tx, { targets, reasons: ['snoozed'], at: now, by: RECIPIENT });
  const what = {
    reason: 'snoozed' as const,
    until: now + days * DAY_MS,
    createdAt: now,
    createdBy: RECIPIENT,
  };
  const suppressions = targets.map(({ kind, value }) => ({ kind, value, ...what }));
  await suppressIn(tx, projectId, { suppressions, now, actor: RECIPIENT });
  return [];
}

function targetsOf({ projectId, userId, address }: EmailRecipient): SuppressionTarget[] {
  return [
    { projectId, kind: 'email', value: address },
    { projectId, kind: 'user', value: userId },
  ];
}

/** Returns whether the email already has an unsubscribe outcome. Reads a table of the outcomes module. */
async function hasUnsubscribed(
  tx: Tx,
  { projectId, emailId }: { projectId: number; emailId: string },
): Promise<boolean> {
  const rows = await tx.query(
    `SELECT 1 FROM beckon.outcome WHERE project_id = $1 AND email_id = $2 AND type = 'email.unsubscribed' LIMIT 1`,
    [projectId, emailId],
  );
  return rows.length > 0;
}
