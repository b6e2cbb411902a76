import { analyzeSync } from 'liquidjs';
import { cleanEdited } from '../clean-edited.ts';
import { EMAIL_PARTS, emailOfVersion, type TemplateText, refused, type TemplateSource } from '../template.ts';
import { parsePart } from '../liquid.ts';
import { findLinks, type LinkPositions, linksOfMarkdown } from '../links.ts';
import { type Publishable, publishable } from '../publish.ts';
import { type Email, type EmailFrame, renderEmail } from '../render-email.ts';
import { TOO_MUCH_WORK } from '../render-work.ts';
import { markupOf, type RenderedContent, renderContent } from '../render.ts';
import type { EmailVariables } from '../variables.ts';
import { type CheckedMail, checkMail, readMail, type ReadMail } from '../../sending/index.ts';

export type ContentToRender = { email: TemplateText; variables: EmailVariables };

/** `untrackedPrefix`: links that begin with it are not tracked; null: none are. */
export type EmailToRender = { content: TemplateText; frame: EmailFrame; untrackedPrefix: string | null };
export type RenderedEmail = Email & { links: string[]; linkPositions: LinkPositions | null };

export type MailToCheck = {
  raw: Uint8Array;
  kind: 'user' | 'team';
  at: number;
  urls?: readonly string[];
  /** DKIM records by their names. */
  records: ReadonlyMap<string, string>;
};

/**
 * Tasks whose cost depends on the text of a member. They do not read the database: their input is complete, and can be copied to a thread.
 */
export const RENDER_TASKS = {
  publishable: (source: TemplateSource): Promise<Publishable> => publishableWhole(source),
  /** Renders a template without facts. Throws where that exceeds the limits of an email. */
  trial: (template: TemplateText): void => tryTemplate(template),
  content: ({ email, variables }: ContentToRender): RenderedContent => renderContent(email, variables),
  email: renderedEmail,
  preview: ({ email, variables, frame }: ContentToRender & { frame: EmailFrame }) => {
    const rendered = renderContent(email, variables);
    return { rendered, email: renderEmail(rendered.content, frame) };
  },
  usedVariables: (template: TemplateText): UsedVariable[] => usedVariables(template),
  cleanEdited: ({ before, edited }: { before: TemplateText; edited: TemplateText }): Promise<TemplateText> =>
    cleanEdited(before, edited),
  checkMail: ({ records, ...asked }: MailToCheck): Promise<CheckedMail> =>
    checkMail(asked.raw, { ...asked, keyOf: (name) => records.get(name) ?? null }),
  links: (body: string) => linksOfMarkdown(body),
  readMail: (raw: Uint8Array): Promise<ReadMail> => readMail(raw),
};

export type RenderTasks = typeof RENDER_TASKS;

/** Compiles and checks a template, and renders it once: a template that cannot be rendered without facts is not published. */
async function publishableWhole(source: TemplateSource): Promise<Publishable> {
  const compiled = await publishable(source);
  tryTemplate(emailOfVersion(compiled));
  return compiled;
}

function tryTemplate(template: TemplateText): void {
  renderEmail(trialContent(template), TRIAL_FRAME);
}

const TRIAL_FRAME: EmailFrame = {
  projectName: '',
  postalAddress: null,
  unsubscribeUrl: null,
  locale: 'en',
  projectLocale: 'en',
};

export function renderedEmail({ content, frame, untrackedPrefix }: EmailToRender): RenderedEmail {
  const email = renderEmail(content, frame);
  return {
    ...email,
    linkPositions: untrackedPrefix === null ? null : findLinks(email.html, untrackedPrefix),
  };
}

/** A variable that a template reads. `required`: it has no default, so a draft without a value is held. */
type UsedVariable = { name: string; required: boolean };

/** Returns the variables in the order of their first use. A path within a trait counts as the trait. */
function usedVariables(template: TemplateText): UsedVariable[] {
  const names = EMAIL_PARTS.flatMap((part) => {
    const parsed = parsePart(template[part], markupOf(template, part));
    if ('flaw' in parsed) return [];
    const globals = Object.values(analyzeSync(parsed.templates, { partials: false }).globals).flat();
    return globals
      .toSorted((a, b) => a.location.row - b.location.row || a.location.col - b.location.col)
      .map(({ segments: [root, key] }) =>
        typeof key === 'string' ? `${String(root)}.${key}` : String(root),
      );
  });
  const missing = renderContent(template, UNKNOWN).missing;
  const isRequired = (name: string): boolean =>
    missing.some((variable) => variable === name || variable.startsWith(`${name}.`));
  return [...new Set(names)].map((name) => ({ name, required: isRequired(name) }));
}

const UNKNOWN = {
  person: {},
  event: {},
  project: { name: '' },
  run: { ends_at: null },
  zone: 'UTC',
  locale: 'en',
};

/** Returns the email for a user without known values. Throws a fault if even that takes too much work. */
function trialContent(template: TemplateText): TemplateText {
  const { content, failed } = renderContent(template, UNKNOWN);
  if (failed !== null) throw refused([{ message: `${failed}: ${TOO_MUCH_WORK}`, field: failed }]);
  return content;
}
