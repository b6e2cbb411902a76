import { Fault } from '../../platform/fault.ts';
import type { NewId } from '../../platform/ids.ts';
import { emailToken, type TokenKeys } from '../../platform/crypto/email-token.ts';
import { isEmail } from '../../platform/records/email.ts';
import { findDraft } from '../drafts/index.ts';
import { findPeople } from '../users/index.ts';
import { getSettings, findOrganizationOf, listMembers } from '../workspace/index.ts';
import { readProjectLock } from '../../platform/locks/project-lock.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { failureText, type SendResult } from '../../platform/mail/send-result.ts';
import { loadProjectModels, localeOfPerson } from '../rules/index.ts';
import { type DraftRef, isDraftId, unknownDraft } from './move-draft.ts';
import {
  type CopyRelays,
  findOutlet,
  findSender,
  freeze,
  type SendServices,
  submitCopy,
  TEST_INBOX_DOMAIN,
} from '../delivery/index.ts';

export type SendTestDeps = {
  db: Tx & { clock: { now(): number } };
  sendServices: SendServices;
  tokenKeys: TokenKeys;
  relays: CopyRelays;
  newId: NewId;
};

/**
 * Sends a copy of a draft to a member of the team. It is rendered, signed and submitted like the real email, whatever its send checks say.
 * The draft does not change, and nothing in the copy can unsubscribe its recipient.
 */
export async function sendTest(
  deps: SendTestDeps,
  { projectId, draftId }: DraftRef,
  to: string,
): Promise<{ to: string; subject: string; reply: string }> {
  const { db, sendServices, tokenKeys, relays } = deps;
  const { kind } = await findOutlet(db, projectId, sendServices.outlet);
  await checkRecipient(db, { projectId, to, isTestInbox: kind === 'test_inbox' });
  const found = isDraftId(draftId) ? await findDraft(db, projectId, draftId) : undefined;
  if (!found) throw unknownDraft(draftId);
  const { draft } = found;
  const now = db.clock.now();
  const models = await loadProjectModels(db, [await readProjectLock(db, projectId)], { now });
  const model = models.get(projectId);
  if (!model) throw new Error(`project ${projectId} has no settings`);
  const [person] = await findPeople(db, [draft]);
  const sender = await findSender(db, model, sendServices);
  requireSending(sender, sendServices);
  const content = { ...draft.content, subject: `[Test] ${draft.content.subject}` };
  const emailId = deps.newId();
  const { mime, mailFrom } = await freeze(
    {
      projectId,
      draftId: draft.id,
      emailId,
      epoch: 0,
      userId: draft.userId,
      email: to,
      address: to,
      content,
      locale: localeOfPerson(person ?? { traits: new Map() }, model),
      projectLocale: model.project.settings.language,
      sender,
      provider: '',
      projectName: model.project.name,
      ruleName: model.rules.byId.get(draft.ruleId)?.name ?? '',
      tracking: { opens: false, clicks: false },
      quiet: null,
      frozen: null,
      aheadMs: 0,
    },
    { outlet: sendServices.outlet, tokenKeys, renderer: sendServices.renderer, now: () => now },
  );
  const inboxSender = `x+${emailToken({ projectId, emailId: draft.id }, 'test', tokenKeys)}@${TEST_INBOX_DOMAIN}`;
  const sendResult = await submitCopy(relays, sender, {
    projectId,
    draftId: draft.id,
    emailId,
    userId: draft.userId,
    address: to,
    content,
    mailFrom: sender.outlet.kind === 'test_inbox' ? inboxSender : mailFrom,
    rcptTo: to,
    mime,
  });
  return { to, subject: content.subject, reply: replyOf(sendResult) };
}

function requireSending(
  { isInside, gate }: Awaited<ReturnType<typeof findSender>>,
  { outlet }: Pick<SendServices, 'outlet'>,
): void {
  if (isInside && outlet.kind === 'relay')
    throw conflict('A demo or sandbox project sends no email. Read its emails in the test inbox');
  if (gate !== 'pass') throw conflict(`Sending is not possible yet: ${gate.detail}`);
}

function conflict(message: string): Fault {
  return new Fault('conflict', { details: [{ message, field: 'draft' }] });
}

/** A test email may leave this machine only for a member of the organization or one of `team_addresses`. */
export async function checkRecipient(
  tx: Tx,
  { projectId, to, isTestInbox }: { projectId: number; to: string; isTestInbox: boolean },
): Promise<void> {
  if (!isEmail(to)) throw refused(`${JSON.stringify(to)} is not an email address`);
  if (isTestInbox) return;
  const { settings } = await getSettings(tx, projectId);
  const address = to.toLowerCase();
  if (settings.teamAddresses.some((teamAddress) => teamAddress.toLowerCase() === address)) return;
  const organization = await findOrganizationOf(tx, projectId);
  const members = organization ? await listMembers(tx, organization.id) : [];
  if (members.some(({ email }) => email === address)) return;
  throw refused(
    `${to} is neither a member of the organization nor one of team_addresses. Test emails are sent to these only`,
  );
}

/** Returns the reply of the relay, or throws a fault with the reason for the rejection. */
export function replyOf(sendResult: SendResult): string {
  if (sendResult.result === 'sent') return sendResult.reply ?? '';
  const message = `The relay rejected the test email: ${failureText(sendResult)}`;
  throw new Fault('conflict', { details: [{ message, field: 'to' }] });
}

function refused(message: string): Fault {
  return new Fault('validation_failed', { details: [{ message, field: 'to' }] });
}
