import { generateKeyPairSync } from 'node:crypto';
import { dkimSign } from 'mailauth/lib/dkim/sign.js';
import { fieldIn, type Sent, sendTo } from './inbound-email.ts';
import type { MailScenario, MailStage } from './mail-stage.ts';

const KEY = generateKeyPairSync('rsa', { modulusLength: 2_048 });

/** Publishes a key by which a domain proves its authors, and a DMARC record. */
export function publishAuthor({ dns }: MailStage, domain: string): void {
  const key = KEY.publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
  dns.set('TXT', `s1._domainkey.${domain}`, [`v=DKIM1; k=rsa; p=${key}`]);
  dns.set('TXT', `_dmarc.${domain}`, ['v=DMARC1; p=reject']);
}

/** Signs an email for the domain of its author, as its mail server does. */
export async function signedBy(domain: string, raw: string): Promise<string> {
  const options = {
    canonicalization: 'relaxed/relaxed',
    signatureData: [
      {
        signingDomain: domain,
        selector: 's1',
        privateKey: KEY.privateKey.export({ format: 'pem', type: 'pkcs8' }),
      },
    ],
  } as unknown as Parameters<typeof dkimSign>[1];
  const { signatures } = await dkimSign(raw, options);
  return `${signatures}${raw}`;
}

/** A user with a run that a reply ends, and the email that they got. */
export type Addressee = Sent & { userId: string; rule: string };

/** Starts a sequence of two emails for a new user, and sends its first email. */
export async function addressee(scenario: MailScenario, userId: string): Promise<Addressee> {
  const sent = await sendTo(scenario, userId, `${userId}@home.test`);
  const rule = `Two for ${userId}`;
  const steps = [
    { draft: { subject: 'One', body: 'Hello.' } },
    { wait: '20d' },
    { draft: { subject: 'Two', body: 'Hello.' } },
  ];
  await scenario.rule({ name: rule, when: { event: `began_${userId}` }, mode: 'autopilot', steps });
  await scenario.event(userId, `began_${userId}`);
  await scenario.later(2 * 3_600_000);
  return { ...sent, userId, rule, replyTo: fieldIn(sent.delivered.raw, 'Reply-To').replace(/^<|>$/g, '') };
}
