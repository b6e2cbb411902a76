import type { MailCheck } from '@beckon/contract/dashboard';
import { capital, spaced } from './codes.ts';

const NAMES: Record<string, string> = {
  mime: 'MIME structure',
  size: 'Size',
  headers: 'Sender and headers',
  dkim: 'Signature (DKIM)',
  subject: 'Subject',
  preheader: 'Preview text',
  tone: 'Tone',
  placeholders: 'Placeholders',
  variables: 'Variables',
  text: 'Plain text',
  text_links: 'Links in the plain text',
  links: 'Links',
  unsubscribe: 'Unsubscribe link',
  images: 'Images',
  html: 'HTML',
  contrast: 'Contrast',
};

/** The display name of a check; an unknown one keeps its own name. */
export function checkName(name: string): string {
  const label = Object.hasOwn(NAMES, name) ? NAMES[name] : undefined;
  return label ?? capital(spaced(name));
}

const WEIGHT: Record<MailCheck['status'], number> = { error: 0, warning: 1, ok: 2 };

/** Results of the same severity keep their order. */
export function worstFirst(checks: MailCheck[]): MailCheck[] {
  return checks.toSorted((a, b) => WEIGHT[a.status] - WEIGHT[b.status]);
}
