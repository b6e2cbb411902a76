import type { NewId } from '../../platform/ids.ts';
import type { TokenKeys } from '../../platform/crypto/email-token.ts';
import type { CheckedMail } from '../sending/index.ts';
import type { Email, Renderer } from '../rendering/index.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { type Models, localeOfPerson } from '../rules/index.ts';
import { type DraftRef, isDraftId, unknownDraft } from './move-draft.ts';
import { checkEmail } from './emails/checked-email.ts';
import { findSender, freeze, type SendServices } from '../delivery/index.ts';
import { type DraftCaseQuery, type DraftCase, openCase } from './load-draft-case.ts';

/** A draft as its email would be sent now: composed and signed by the same code, but not sent. */
export type PreviewedDraft = Pick<CheckedMail, 'html' | 'text' | 'checks'> & {
  from: string;
  to: string | null;
  headers: { name: string; value: string }[];
  links: string[];
  problems: string[];
  bytes: { html: number; mime: number };
};

export type PreviewDeps = {
  db: Tx & { clock: { now(): number } };
  sendServices: SendServices;
  models: Models;
  tokenKeys: TokenKeys;
  newId: NewId;
};

export async function previewDraft(
  { db, sendServices, models, tokenKeys, newId }: PreviewDeps,
  ref: DraftRef,
): Promise<PreviewedDraft> {
  const { renderer } = sendServices;
  const now = db.clock.now();
  const opened = await openDraft(db, { ...ref, now, models });
  const { draft, model, person } = opened;
  const sender = await findSender(db, model, sendServices);
  const to = person?.email ?? null;
  const emailId = newId();
  const { mime } = await freeze(
    {
      ...ref,
      emailId,
      epoch: 0,
      userId: draft.userId,
      // The preview is not sent, so a user without an address gets one that does not exist.
      email: to ?? UNUSED_ADDRESS,
      address: to ?? UNUSED_ADDRESS,
      content: draft.content,
      locale: localeOfCase(opened),
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
    { outlet: sendServices.outlet, tokenKeys, renderer, now: () => now },
  );
  const { projectId } = ref;
  const emailToCheck = { projectId, id: emailId, raw: mime, kind: 'user', at: now } as const;
  const checked = await checkEmail({ db, renderer }, emailToCheck);
  const { headers } = await renderer.run('readMail', mime, { projectId });
  const { html, text, checks } = checked;
  const { links, warnings: troubles } = await renderFramed(opened, renderer);
  const bytes = { html: Buffer.byteLength(html), mime: mime.length };
  return {
    html,
    text,
    checks,
    headers,
    links,
    problems: troubles,
    bytes,
    to,
    from: `${sender.name} <${sender.address}>`,
  };
}

const UNUSED_ADDRESS = 'unused@nowhere.invalid';

/** Renders the HTML alone, for the frame in which a member reads the draft. This is faster than composing the email. */
export async function renderDraft(
  { db, renderer }: { db: Tx; renderer: Renderer },
  query: DraftCaseQuery,
): Promise<Email> {
  return renderFramed(await openDraft(db, query), renderer);
}

/** The unsubscribe link is an example: the reader of a preview is not the recipient. */
function renderFramed(opened: DraftCase, renderer: Renderer): Promise<Email> {
  const { draft, model } = opened;
  const { project } = model;
  const { sender } = project.settings;
  const frame = {
    projectName: project.name,
    postalAddress: sender.postalAddress,
    footer: sender.footer,
    unsubscribeUrl: 'https://example.com/unsubscribe',
    locale: localeOfCase(opened),
    projectLocale: project.settings.language,
  };
  const { content, projectId } = draft;
  return renderer.run('email', { content, frame, untrackedPrefix: null }, { projectId });
}

function localeOfCase({ person, model }: DraftCase): string {
  return localeOfPerson(person ?? { traits: new Map() }, model);
}

async function openDraft(tx: Tx, query: DraftCaseQuery): Promise<DraftCase> {
  const opened = isDraftId(query.draftId) ? await openCase(tx, query) : undefined;
  if (!opened) throw unknownDraft(query.draftId);
  return opened;
}
