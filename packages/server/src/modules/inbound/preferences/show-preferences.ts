import type { EmailName } from '../../../platform/crypto/email-token.ts';
import { LOCALE_TRAIT, namedLocale } from '../../../platform/text/locale.ts';
import { findPeople } from '../../users/index.ts';
import { listSettings } from '../../workspace/index.ts';
import { findTopicUnsubscribes, type FoundSuppression, listInForce } from '../../sending/index.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { withProjectClock } from '../../../platform/locks/project-lock.ts';
import { findEmailById } from '../../delivery/index.ts';

/** The email preferences of the recipient of an email. */
export type EmailPreferences = {
  projectName: string;
  /** The time zone of the project, which dates on the page use. */
  timeZone: string;
  /** The user's own locale; null if the user has none. */
  userLocale: string | null;
  projectLocale: string;
  /** The recipient address of the email. */
  address: string;
  emails: EmailsStatus;
  /** The topics of the project, in its order. */
  topics: { id: string; title: string; isRefused: boolean }[];
};

/** `stopped`: by a cause that the recipient did not choose and cannot revert. */
export type EmailsStatus =
  | { are: 'subscribed' }
  | { are: 'unsubscribed' }
  | { are: 'snoozed'; until: number }
  | { are: 'stopped'; because: 'bounces' | 'sender' };

/** Returns null if the email is unknown: it was a test email, or its user was erased. */
export async function showChoices(db: Database, email: EmailName): Promise<EmailPreferences | null> {
  const recipient = await findEmailById(db, email);
  if (!recipient) return null;
  const { projectId } = email;
  const projectDeps = await withProjectClock({ db }, projectId);
  return emailPreferences(db, { ...recipient, projectId }, projectDeps.db.clock.now());
}

/** The user and address of an email to which a choice applies. */
export type EmailRecipient = { projectId: number; userId: string; address: string };

export async function emailPreferences(
  tx: Tx,
  recipient: EmailRecipient,
  now: number,
): Promise<EmailPreferences | null> {
  const { projectId, address } = recipient;
  const project = (await listSettings(tx, [projectId])).get(projectId);
  if (!project) return null;
  const { topics, timeZone, language } = project.settings;
  const [person] = await findPeople(tx, [recipient], { emails: false });
  const inForce = await listInForce(tx, { ...recipient, now });
  const [refused] = topics.length > 0 ? await findTopicUnsubscribes(tx, [recipient]) : [];
  return {
    projectName: project.name,
    timeZone,
    userLocale: namedLocale(person?.traits.get(LOCALE_TRAIT)),
    projectLocale: language,
    address,
    emails: emailsOf(inForce),
    topics: topics.map(({ id, title }) => ({ id, title, isRefused: refused?.has(id) ?? false })),
  };
}

/** The recipient's own choices take precedence, because the recipient can revert them. The longest-lasting reason comes first. */
function emailsOf(inForce: FoundSuppression[]): EmailsStatus {
  const of = (...reasons: FoundSuppression['reason'][]): FoundSuppression | undefined =>
    inForce.find(({ reason }) => reasons.includes(reason));
  if (of('unsubscribed', 'complained')) return { are: 'unsubscribed' };
  if (of('manual')) return { are: 'stopped', because: 'sender' };
  if (of('hard_bounce', 'soft_bounces')) return { are: 'stopped', because: 'bounces' };
  const until = of('snoozed')?.until ?? null;
  return until === null ? { are: 'subscribed' } : { are: 'snoozed', until };
}
