import { Fault, type FieldFault } from '../../platform/fault.ts';
import type { LetterText } from './email.ts';

/** An email as written, in Markdown or MJML. */
export type TemplateSource = Omit<LetterText, 'format'> & { format: 'markdown' | 'mjml' };

/** A named email. `version` is the published one, which is the newest. Times are in milliseconds. */
export type Template = { id: string; name: string; version: number; createdAt: number; updatedAt: number };

/** An immutable version. `html`: the output of MJML with its variables. */
export type TemplateVersion = TemplateSource & {
  version: number;
  html: string | null;
  createdAt: number;
  createdBy: string;
};

/** All templates of a project are held in memory by every process that renders emails. */
export const TEMPLATES_MAX = 200;

/** Returns the content to render. */
export function letterOfVersion({
  subject,
  preheader,
  body,
  html,
}: Omit<TemplateSource, 'format'> & { html: string | null }): LetterText {
  return html === null
    ? { subject, preheader, body, format: 'markdown' }
    : { subject, preheader, body: html, format: 'html' };
}

export function refused(details: FieldFault[]): Fault {
  return new Fault('validation_failed', { details });
}
