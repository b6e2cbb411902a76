import { testRenderer } from './send-services.ts';
import { createTemplate } from '../../src/modules/templates/write-template.ts';
import { HOUR } from './drafts.ts';
import type { MailScenario } from './mail-stage.ts';
import { DAY } from '../scenario.ts';

/** The rules that every project has, and an additional email in MJML. */
const SHIPPED_EMAILS = ['welcome', 'onboarding_stall', 'plan_limit_upsell', 'trial_expiring'] as const;
export const EMAIL_NAMES = [...SHIPPED_EMAILS, 'in_mjml'] as const;

const MJML = `<mjml><mj-body><mj-section><mj-column>
<mj-text>Dear {{ user.name | default: "friend" }}, you are on {{ event.plan | default: "our" }} plan.</mj-text>
<mj-button href="https://app.acme.test/go?who={{ user.name | default: "you" | url_encode }}">Go on</mj-button>
<mj-text><a href="https://app.acme.test/{{ user.name | default: "x" | url_encode }}" title="For {{ user.name | default: "you" }}">Here</a></mj-text>
</mj-column></mj-section></mj-body></mjml>`;

export type SampleUser = {
  email?: string;
  traits: Record<string, unknown>;
  /** The names of the plan and of the meter: besides traits, the ways in which a text may reach the email. */
  plan: string;
  meter: string;
};

/** Adds the MJML email with a rule of its own. */
export async function addMjmlEmail(scenario: MailScenario): Promise<void> {
  const { server, projectId } = scenario;
  const document = {
    name: 'in_mjml',
    format: 'mjml',
    subject: 'For {{ user.name | default: "you" }}',
    body: MJML,
  };
  await createTemplate(
    { db: server.db, renderer: testRenderer },
    { projectId, document, follow: true, actor: 'ann' },
  );
  await scenario.rule({ name: 'in_mjml', when: { event: 'hello' }, steps: [{ draft: 'in_mjml' }] });
}

/** Sends each email to a user of its own, all of the same kind: through the API, the rules, the send checks and the relay. */
export async function writeAll(scenario: MailScenario, person: SampleUser, prefix = 'p'): Promise<void> {
  const { plan, meter } = person;
  const events: Record<(typeof EMAIL_NAMES)[number], [string, Record<string, unknown>]> = {
    welcome: ['user_signed_up', { plan }],
    onboarding_stall: ['user_signed_up', { plan }],
    plan_limit_upsell: ['usage_threshold_reached', { usagePercent: 91, meter, limit: 1_000 }],
    trial_expiring: ['trial_expiring', { trialDays: 3, plan }],
    in_mjml: ['hello', { plan }],
  };
  for (const name of EMAIL_NAMES) {
    const userId = `${prefix}-${name}`;
    await scenario.user(userId, { email: person.email ?? `${userId}@home.test`, traits: person.traits });
    await scenario.event(userId, ...events[name]);
  }
  await scenario.later(2 * HOUR);
  await scenario.later(3 * DAY);
}
