import { checkMail, type CheckedMail, readMail, type ReadMail } from '../../sending/index.ts';
import { cleanEdited } from '../clean-edited.ts';
import { type Email, type EmailFrame, renderEmail } from '../render-email.ts';
import { findLinks, type LinkPlaces } from '../track-links.ts';
import { letterOfVersion, type TemplateSource } from '../template.ts';
import type { LetterText } from '../email.ts';
import type { LetterVariables } from '../variables.ts';
import { type Publishable, publishable } from '../publish.ts';
import { type RenderedLetter, renderLetter } from '../render.ts';
import { linksOfMarkdown } from '../list-links.ts';
import { trialContent, type UsedVariable, usedVariables } from '../used-variables.ts';

export type LetterToRender = { letter: LetterText; variables: LetterVariables };

/** `ownPrefix`: links that begin with it are not tracked; null: none are. */
export type EmailToRender = { content: LetterText; frame: EmailFrame; ownPrefix: string | null };
export type RenderedEmail = Email & { links: string[]; places: LinkPlaces | null };

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
  trial: (letter: LetterText): void => tryTemplate(letter),
  letter: ({ letter, variables }: LetterToRender): RenderedLetter => renderLetter(letter, variables),
  email: emailOf,
  preview: ({ letter, variables, frame }: LetterToRender & { frame: EmailFrame }) => {
    const rendered = renderLetter(letter, variables);
    return { rendered, email: renderEmail(rendered.content, frame) };
  },
  usedVariables: (letter: LetterText): UsedVariable[] => usedVariables(letter),
  cleanEdited: ({ before, edited }: { before: LetterText; edited: LetterText }): Promise<LetterText> =>
    cleanEdited(before, edited),
  checkMail: ({ records, ...asked }: MailToCheck): Promise<CheckedMail> =>
    checkMail(asked.raw, { ...asked, keyOf: (name) => records.get(name) ?? null }),
  links: (body: string) => linksOfMarkdown(body),
  readMail: (raw: Uint8Array): Promise<ReadMail> => readMail(raw),
};

export type RenderTasks = typeof RENDER_TASKS;

/** Compiles and checks a template, and renders it once: a template that cannot be rendered without facts is not published. */
async function publishableWhole(source: TemplateSource): Promise<Publishable> {
  const letter = await publishable(source);
  tryTemplate(letterOfVersion(letter));
  return letter;
}

function tryTemplate(letter: LetterText): void {
  renderEmail(trialContent(letter), TRIAL_FRAME);
}

const TRIAL_FRAME: EmailFrame = {
  projectName: '',
  postalAddress: null,
  unsubscribeUrl: null,
  locale: 'en',
  projectLocale: 'en',
};

export function emailOf({ content, frame, ownPrefix }: EmailToRender): RenderedEmail {
  const email = renderEmail(content, frame);
  return { ...email, places: ownPrefix === null ? null : findLinks(email.html, ownPrefix) };
}
