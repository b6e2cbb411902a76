import { addDomain } from '../../../packages/server/src/modules/sending/domains/add-domain.ts';
import { createSigners } from '../../../packages/server/src/modules/sending/domains/signers.ts';
import { generateKey } from '../../../packages/server/src/modules/sending/domains/dkim-key.ts';
import { emailHeaders } from '../../../packages/server/src/modules/delivery/headers.ts';
import { renderEmail } from '../../../packages/server/src/modules/rendering/render-email.ts';
import { renderContent } from '../../../packages/server/src/modules/rendering/render.ts';
import { createRule } from '../../../packages/server/src/modules/rules/write-rule.ts';
import { setSettings } from '../../../packages/server/src/modules/administration/set-settings.ts';
import type { DkimSigningKey } from '../../../packages/server/src/platform/mail/outgoing-email.ts';
import { NAME, type World } from '../rules/world.ts';
import type { Testbed } from '../testbed.ts';
import { addInactiveUsers, makePeople } from '../world.ts';
import type { BaselineEmail } from './baseline.ts';

/**
 * A project that sends. One rule has one email (Markdown, three variables, two links, some 8 KB of HTML). A verified domain signs with a
 * real key of 2,048 bits, and each user has one address. Quiet hours, caps, throttle and warm-up are off, so that every due draft may be
 * sent.
 */
export type SendWorld = World & { baseline: BaselineEmail; dkim: DkimSigningKey };

const DOMAIN = 'mail.bench.example';
export const PUBLIC_URL = 'https://beckon.bench.example';
export const FROM = { name: 'Ada of Bench', address: `ada@${DOMAIN}` };
const POSTAL_ADDRESS = 'Bench GmbH, Hauptstraße 1, 53111 Bonn';
const RULE = 'first_report';
const PLAN = 'free';

const EMAIL = {
  subject: 'Your first report is ready, {{ user.name | default: "there" }}',
  preheader: 'See its content, and what people on your plan use next.',
  body: `Hi {{ user.name | default: "there" }},

your **first report** in {{ project.name }} is ready. We made it while you were away, so there is nothing that you have to set up: [open the report](https://app.bench.example/reports/latest?from=email) and have a look at it.

## What is in it

- *Who came back.* How many of the people who signed up last week used what you built on three days or more.
- *Who went quiet.* Those who were there each week and have not been seen for seven days, with what they did last.
- *What they tried.* The features that people opened, and at which of them most of them stopped.

You are on the {{ user.plan | default: "trial" }} plan, with which a report is made once a week. Most people on it look at the second list first, write to three of those who went quiet, and ask one question: what were you trying to do?

> The best email that I ever wrote was two lines long, and forty people answered it.

If a figure looks odd to you, [tell us which one](https://app.bench.example/help?topic=reports&plan=free), or reply to this email. A person reads every reply, and most of them are answered on the same day.

{{ project.name }}
`,
};

export async function openWorld(testbed: Testbed, { people }: { people: number }): Promise<SendWorld> {
  const { db, url } = testbed;
  const { id: projectId } = await testbed.project();
  await setSettings(db, projectId, {
    quiet_hours: 'off',
    throttle: 'off',
    frequency_cap: 'off',
    from_name: FROM.name,
    from_address: FROM.address,
    postal_address: POSTAL_ADDRESS,
  });
  await makePeople(testbed, { projectId, people: 0, lapsed: 0, eventsOfEach: 0 });
  await addInactiveUsers(testbed, { projectId, from: 0, count: people });
  const document = { name: RULE, when: { event: 'report_made' }, steps: [{ draft: EMAIL }] };
  const { id: ruleId } = await createRule(db, { projectId, document });
  const dkim = await openDomain(testbed, projectId);
  const { content } = renderContent(
    { ...EMAIL, format: 'markdown' },
    {
      person: { name: NAME, plan: PLAN },
      event: { name: 'report_made' },
      project: { name: 'bench' },
      run: { ends_at: null },
      zone: 'UTC',
      locale: 'en',
    },
  );
  const email = { content, facts: { 'user.plan': PLAN } };
  const baseline = baselineEmail(projectId, content);
  return { projectId, url, ruleIds: [ruleId], nextPerson: 0, email, baseline, dkim };
}

/** Writes a domain as it is after its verification: no DNS server here could publish its records. */
async function openDomain({ db, encrypter }: Testbed, projectId: number): Promise<DkimSigningKey> {
  const pair = await generateKey();
  return db.transaction(async (tx) => {
    const domainOptions = { projectId, name: DOMAIN, warm: true };
    const { domain } = await addDomain({ tx, clock: db.clock, encrypter }, domainOptions, pair);
    const key = [projectId, domain.id];
    await tx.query(
      `UPDATE beckon.sending_domain SET state = 'verified', verified_at = now(), next_check_at = NULL WHERE project_id = $1 AND id = $2`,
      key,
    );
    await tx.query(
      `UPDATE beckon.dkim_key SET state = 'active' WHERE project_id = $1 AND domain_id = $2`,
      key,
    );
    const signer = await createSigners(encrypter, { mailDomain: null }).of(tx, projectId, DOMAIN);
    if (!signer?.dkim) throw new Error('the domain has no key that signs');
    return signer.dkim;
  });
}

/** Returns the parts from which the product composes an email, made once. */
function baselineEmail(
  projectId: number,
  content: ReturnType<typeof renderContent>['content'],
): BaselineEmail {
  const { headers, unsubscribeUrl } = emailHeaders({
    name: { projectId, emailId: crypto.randomUUID() },
    outlet: { kind: 'relay', publicUrl: PUBLIC_URL, mailDomain: null },
    tokenKeys: [Buffer.alloc(32, 1)],
    from: FROM,
    returnPath: null,
    project: 'bench',
    rule: RULE,
  });
  const { html, text } = renderEmail(content, {
    projectName: 'bench',
    postalAddress: POSTAL_ADDRESS,
    unsubscribeUrl,
    locale: 'en',
    projectLocale: 'en',
  });
  return { from: FROM, replyTo: null, subject: content.subject, html, text, headers };
}
