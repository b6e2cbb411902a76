import type { MailCheck } from '@beckon/contract/dashboard';

const NAMES: Record<string, string> = {
  mime: 'How it is put together',
  size: 'Size',
  headers: 'Sender and headers',
  dkim: 'Signature (DKIM)',
  subject: 'Subject',
  preheader: 'Preview line',
  tone: 'Tone',
  placeholders: 'Placeholders',
  text: 'Plain text',
  text_links: 'Links in the plain text',
  links: 'Links',
  unsubscribe: 'Way to unsubscribe',
  images: 'Images',
  html: 'HTML',
  contrast: 'Contrast',
};

/** A check as people call it; one that is new here by its own name. */
export function checkName(name: string): string {
  const known = Object.hasOwn(NAMES, name) ? NAMES[name] : undefined;
  const own = name.replaceAll('_', ' ');
  return known ?? own.charAt(0).toUpperCase() + own.slice(1);
}

const WEIGHT: Record<MailCheck['status'], number> = { error: 0, warning: 1, ok: 2 };

/** Those of one weight stay in the order in which they were looked at. */
export function worstFirst(checks: MailCheck[]): MailCheck[] {
  return checks.toSorted((a, b) => WEIGHT[a.status] - WEIGHT[b.status]);
}
