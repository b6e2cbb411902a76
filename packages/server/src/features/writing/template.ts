import { Fault, type FieldFault } from '../../base/fault.ts';
import type { LetterText } from './letter.ts';

/** A letter as it is written, in Markdown or in MJML. */
export type TemplateSource = Omit<LetterText, 'format'> & { format: 'markdown' | 'mjml' };

/** A letter by its name. `version` is the one that is published; it is the newest. Moments are milliseconds. */
export type Template = { id: string; name: string; version: number; createdAt: number; updatedAt: number };

/** Never changed once it is there. `html`: what MJML compiled to, with its variables still in it. */
export type TemplateVersion = TemplateSource & {
  version: number;
  html: string | null;
  createdAt: number;
  createdBy: string;
};

/** All of them are held in memory wherever letters are written. */
export const TEMPLATES_MAX = 200;

/** What is rendered of it. */
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
