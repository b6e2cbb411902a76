import { expect, test } from 'vitest';
import { checkMail } from '../../sending/email-checks/checks.ts';
import { emailHeaders } from '../../delivery/headers.ts';
import { findShippedEmail, shippedEmailNames } from '../../rendering/shipped.ts';
import { renderEmail } from '../../rendering/render-email.ts';
import { renderContent } from '../../rendering/render.ts';
import { variablesFor } from '../../rendering/variables.ts';
import { composeMail } from '../../../platform/mail/compose.ts';

const AT = Date.UTC(2026, 0, 15, 12);
const MESSAGE = '0198b1c2-0000-7000-8000-000000000001';

/** Composes a shipped email to a user with many traits or none, as it is sent. */
async function write(name: string, traits: object, properties: object): Promise<Buffer> {
  const email = findShippedEmail(name);
  if (!email) throw new Error(`no shipped email ${name}`);
  const variables = variablesFor({
    person: { userId: 'u1', traits: new Map(Object.entries(traits)), email: 'ada@x.test' },
    anchor: { name: 'user_signed_up', properties: { ...properties }, occurredAt: AT },
    endsAt: AT + 3 * 86_400_000,
    project: { name: 'Acme' },
    zone: 'Europe/Paris',
    locale: 'en',
  });
  const { content } = renderContent(email, variables);
  const from = { name: 'Acme', address: 'hello@acme.test' };
  const { messageIdHeader, unsubscribeUrl, headers } = emailHeaders({
    name: { projectId: 1, emailId: MESSAGE },
    outlet: { kind: 'relay', publicUrl: 'https://beckon.acme.test', mailDomain: 'in.acme.test' },
    tokenKeys: [Buffer.alloc(32, 5)],
    from,
    returnPath: 'bounce.acme.test',
    project: 'Acme',
    rule: name,
  });
  const frame = {
    projectName: 'Acme',
    postalAddress: '1 Main Street',
    unsubscribeUrl,
    locale: 'en',
    projectLocale: 'en',
  };
  const { html, text } = renderEmail(content, frame);
  const to = { name: '', address: 'ada@x.test' };
  const rest = { messageId: messageIdHeader, date: new Date(AT), from, to, replyTo: null, headers };
  return composeMail({ ...rest, subject: content.subject, html, text }, null);
}

test.each(shippedEmailNames())(
  'finds nothing wrong with the shipped email %s except the missing signature',
  async (name) => {
    for (const [traits, properties] of [
      [
        { name: 'Ada', plan: 'pro_plus' },
        { plan: 'pro_plus', meter: 'seats', usagePercent: 91, limit: 100 },
      ],
      [{}, {}],
    ] as const) {
      const { checks } = await checkMail(await write(name, traits, properties), {
        kind: 'user',
        at: AT,
        keyOf: () => null,
      });
      expect(checks.filter(({ status, name: look }) => status !== 'ok' && look !== 'dkim')).toEqual([]);
    }
  },
);
