import { composeMail } from '../../src/platform/mail/compose.ts';
import type { DkimSigningKey, OutgoingEmail } from '../../src/platform/mail/outgoing-email.ts';

const PREHEADER = 'Three steps are left before your team can begin.';
const LINKS = {
  next: 'https://app.acme.test/next?a=1&b=2',
  unsubscribe: 'https://beckon.acme.test/u/abc.def',
};

/** Returns the HTML of an email without problems. `more` is in its middle, `css` in its style sheet. */
export function goodHtml({ more = '', css = '' }: { more?: string; css?: string } = {}): string {
  return `<!doctype html><html lang="en"><head><title>Acme</title><meta name="color-scheme" content="light dark"><style>
.quiet { color: #595959 } .button { background-color: #1d4ed8; color: #ffffff !important }
@media (prefers-color-scheme: dark) { .card { background: #1f2430 !important } .quiet, p { color: #d5d9e3 !important } }${css}
</style></head><body style="background:#f4f5f7;color:#1c1f26">
<div style="display:none;max-height:0;overflow:hidden;color:#f4f5f7">${PREHEADER}&#8199;&#847;</div>
<table role="presentation" class="card" bgcolor="#ffffff"><tr><td style="color: rgb(28 31 38)"><p>Hello Ada, you are nearly there.</p>${more}
<a class="button" href="${LINKS.next.replaceAll('&', '&amp;')}">Go on</a>
<p class="quiet">Acme, 1 Main Street · <a href="${LINKS.unsubscribe}" style="color:inherit">Unsubscribe</a></p></td></tr></table></body></html>`;
}

export const GOOD_TEXT = `Hello Ada, you are nearly there.\n\nGo on [${LINKS.next}]\n\nAcme, 1 Main Street\nUnsubscribe [${LINKS.unsubscribe}]\n`;

export const GOOD_HEADERS = [
  { name: 'List-Unsubscribe', value: `<${LINKS.unsubscribe}>, <mailto:u+abc.def@bounce.acme.test>` },
  { name: 'List-Unsubscribe-Post', value: 'List-Unsubscribe=One-Click' },
];

/** Returns an outgoing email without problems except for the changes. */
export function goodEmail(
  changed: Partial<OutgoingEmail> & { date: Date },
  dkim: DkimSigningKey | null = null,
): Promise<Buffer> {
  const email = {
    messageId: '0198b1c2-0000-7000-8000-000000000001@acme.test',
    from: { name: 'Acme', address: 'hello@acme.test' },
    to: { name: 'Ada', address: 'ada@example.test' },
    replyTo: null,
    subject: 'Three steps are left',
    html: goodHtml(),
    text: GOOD_TEXT,
    headers: GOOD_HEADERS,
  };
  return composeMail({ ...email, ...changed }, dkim);
}
