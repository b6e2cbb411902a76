import type { HttpRelayKind, RelayAdapter } from './adapter.ts';
import { brevo } from './brevo.ts';
import { mailgun } from './mailgun.ts';
import { postal } from './postal.ts';
import { postmark } from './postmark.ts';
import { resend } from './resend.ts';
import { sendgrid } from './sendgrid.ts';
import { ses } from './ses.ts';

/** In the order in which the dashboard and the command line offer them. */
export const RELAY_ADAPTERS: Readonly<Record<HttpRelayKind, RelayAdapter>> = {
  postmark,
  resend,
  ses,
  mailgun,
  sendgrid,
  brevo,
  postal,
};
