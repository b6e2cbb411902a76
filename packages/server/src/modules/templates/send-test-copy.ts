import { emailToken, type TokenKeys } from '../../platform/crypto/email-token.ts';
import { Fault } from '../../platform/fault.ts';
import type { NewId } from '../../platform/ids.ts';
import type { EmailCheck } from '../sending/index.ts';
import { readProjectLock } from '../../platform/locks/project-lock.ts';
import type { TemplateText } from '../rendering/index.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { loadProjectModels, type Model } from '../rules/index.ts';
import {
  type CopyRelays,
  findSender,
  freeze,
  type SendServices,
  submitCopy,
  TEST_INBOX_DOMAIN,
} from '../delivery/index.ts';
import { checkRecipient, replyOf } from '../review/index.ts';

export type CopyDeps = {
  db: Tx & { clock: { now(): number } };
  sendServices: SendServices;
  tokenKeys: TokenKeys;
  newId: NewId;
};

type TestCopyInput = { projectId: number; content: TemplateText; locale: string; to: string };

/** Checks that depend on the sender and the transport, and not on the text. */
const SENDER_CHECKS: ReadonlySet<string> = new Set(['mime', 'headers', 'dkim']);

/** Checks a text, as the email that it would become. Sends nothing. */
export async function checkWords(deps: CopyDeps, input: TestCopyInput): Promise<EmailCheck[]> {
  const { projectId } = input;
  const { mime } = await compose(deps, await openScene(deps, projectId), input);
  const mail = { raw: mime, kind: 'user', at: deps.db.clock.now(), records: new Map() } as const;
  const { checks } = await deps.sendServices.renderer.run('checkMail', mail, { projectId });
  return checks.filter(({ name }) => !SENDER_CHECKS.has(name));
}

/** Sends a text as an email to a member, as users would get it. */
export async function sendTrialCopy(
  deps: CopyDeps & { relays: CopyRelays },
  input: TestCopyInput,
): Promise<{ to: string; subject: string; reply: string }> {
  const { db, tokenKeys, relays, sendServices } = deps;
  const { projectId, to, locale } = input;
  const content = { ...input.content, subject: `[Test] ${input.content.subject}` };
  const scene = await openScene(deps, projectId);
  const { sender } = scene;
  const isTestInbox = sender.outlet.kind === 'test_inbox';
  await checkRecipient(db, { projectId, to, isTestInbox });
  if (sender.isInside && sendServices.outlet.kind === 'relay')
    throw conflict('A demo project sends no email. Use the preview');
  if (sender.gate !== 'pass') throw conflict(`Sending is not possible yet: ${sender.gate.detail}`);
  const { mime, mailFrom, emailId } = await compose(deps, scene, { projectId, to, content, locale });
  // Like an email to the team, it belongs to no draft and no user.
  const inboxSender = `t+${emailToken({ projectId, emailId }, 'team', tokenKeys)}@${TEST_INBOX_DOMAIN}`;
  const submission = await submitCopy(relays, sender, {
    projectId,
    draftId: emailId,
    emailId,
    userId: '',
    address: to,
    content,
    mailFrom: isTestInbox ? inboxSender : mailFrom,
    rcptTo: to,
    mime,
  });
  return { to, subject: content.subject, reply: replyOf(submission) };
}

type Scene = { model: Model; sender: Awaited<ReturnType<typeof findSender>>; now: number };

async function openScene({ db, sendServices }: CopyDeps, projectId: number): Promise<Scene> {
  const now = db.clock.now();
  const model = (await loadProjectModels(db, [await readProjectLock(db, projectId)], { now })).get(projectId);
  if (!model) throw new Error(`project ${projectId} has no settings`);
  return { model, sender: await findSender(db, model, sendServices), now };
}

async function compose(
  { tokenKeys, newId, sendServices: { renderer } }: CopyDeps,
  scene: Scene,
  { projectId, content, locale, to }: TestCopyInput,
) {
  const { model, sender, now } = scene;
  const emailId = newId();
  const frozen = await freeze(
    {
      projectId,
      draftId: emailId,
      emailId,
      epoch: 0,
      userId: '',
      email: to,
      address: to,
      content,
      locale,
      projectLocale: model.project.settings.language,
      sender,
      provider: '',
      projectName: model.project.name,
      ruleName: '',
      tracking: { opens: false, clicks: false },
      quiet: null,
      frozen: null,
      aheadMs: 0,
    },
    { outlet: sender.outlet, tokenKeys, renderer, now: () => now },
  );
  return { ...frozen, emailId };
}

function conflict(message: string): Fault {
  return new Fault('conflict', { details: [{ message, field: 'template' }] });
}
