import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkEmail } from './publish.ts';
import { findShippedEmail, shippedEmailNames } from './shipped.ts';
import type { TemplateText } from './template.ts';
import { renderContent } from './render.ts';
import { variablesFor } from './variables.ts';

function shipped(name: string): TemplateText {
  const email = findShippedEmail(name);
  if (email === undefined) throw new Error(`there is no template ${name}`);
  return email;
}

type RenderInput = {
  traits?: Record<string, unknown>;
  name?: string;
  properties?: Record<string, unknown>;
  endsAt?: number;
};

function render(email: string, { traits = {}, name = 'event', properties = {}, endsAt }: RenderInput = {}) {
  const variables = variablesFor({
    person: { userId: 'u1', traits: new Map(Object.entries(traits)), email: null },
    anchor: { name, properties, occurredAt: Date.UTC(2026, 5, 1, 12) },
    endsAt: endsAt ?? null,
    project: { name: 'Acme' },
    zone: 'Europe/Berlin',
    locale: 'en',
  });
  return renderContent(shipped(email), variables);
}

test('has an email for each of the four shipped rules, and each can be stored', () => {
  expect(shippedEmailNames()).toEqual(['welcome', 'onboarding_stall', 'plan_limit_upsell', 'trial_expiring']);
  for (const name of shippedEmailNames()) expect(checkEmail(shipped(name))).toEqual([]);
  expect(findShippedEmail('constructor')).toBeUndefined();
});

test('renders shipped emails without gaps if values are missing or invalid', () => {
  const arbitraryTraits = fc.record(
    { name: fc.jsonValue(), plan: fc.jsonValue(), company: fc.jsonValue() },
    { requiredKeys: [] },
  );
  const properties = fc.record(
    {
      plan: fc.string(),
      usagePercent: fc.double(),
      meter: fc.string(),
      limit: fc.integer(),
      trialDays: fc.double(),
    },
    { requiredKeys: [] },
  );
  const eventName = fc.constantFrom(
    'user_signed_up',
    'trial_started',
    'trial_expiring',
    'usage_threshold_reached',
  );
  fc.assert(
    fc.property(
      fc.constantFrom(...shippedEmailNames()),
      arbitraryTraits,
      fc.tuple(eventName, properties),
      (email, traits, [name, eventProperties]) => {
        const { content, missing } = render(email, { traits, name, properties: eventProperties });
        expect(missing).toEqual([]);
        expect(content.body).not.toContain('object Object');
        expect(content.body).toMatch(/\n\nAcme$/);
        expect(content.subject).not.toBe('');
      },
    ),
  );
});

test('welcome greets the user by name', () => {
  const { content } = render('welcome', { traits: { name: 'Ada' }, properties: { plan: 'pro_monthly' } });
  expect(content.subject).toBe('Welcome to Acme');
  expect(content.body).toContain('Hi Ada,\n\nYour Acme account is ready, on the pro monthly plan.');
  expect(render('welcome').content.body).toContain('Hi there,\n\nYour Acme account is ready.\n');
});

test('onboarding_stall names the sign-up date if the sign-up started the run', () => {
  expect(render('onboarding_stall', { name: 'user_signed_up' }).content.body).toContain(
    'You signed up for Acme on Monday, June 1, and',
  );
  expect(render('onboarding_stall').content.body).toContain('You signed up for Acme a little while ago, and');
});

test.each([
  [{}, 'You are close to a limit of your plan', 'you were close to a limit of your plan.'],
  [{ usagePercent: 80.9 }, 'You have used 80% of your plan', 'used 80% of what comes with your plan.'],
  [
    { usagePercent: 80, limit: 10000 },
    'You have used 80% of your plan',
    'used 80% of the 10,000 that come with your plan.',
  ],
  [
    { usagePercent: 80, meter: 'api_calls' },
    'You have used 80% of your api calls',
    'used 80% of the api calls that come with your plan.',
  ],
  [
    { usagePercent: 104, meter: 'seats', limit: 25 },
    'You have used 104% of your seats',
    'used 104% of the 25 seats that come with your plan.',
  ],
])('plan_limit_upsell states what is known of the limit: %j', (properties, subject, sentence) => {
  const { content } = render('plan_limit_upsell', { properties });
  expect(content.subject).toBe(subject);
  expect(content.body).toContain(`${sentence} We are telling you now`);
});

test("trial_expiring names the last day in the user's time zone if it is known", () => {
  const endsAt = Date.UTC(2026, 5, 4, 23);
  const { content } = render('trial_expiring', {
    name: 'trial_started',
    properties: { trialDays: 14 },
    endsAt,
  });
  expect(content.subject).toBe('Your Acme trial ends on Friday, June 5');
  expect(content.body).toContain('Your 14-day trial of Acme ends on Friday, June 5.');
  const sent = render('trial_expiring', { name: 'trial_expiring', properties: { trialDays: 3 }, endsAt });
  expect(sent.content.body).toContain('Your trial of Acme ends on Friday, June 5.');
  expect(render('trial_expiring').content.body).toContain('Your trial of Acme ends soon.');
});

test.each([
  [{ subject: ' ' }, 'subject', 'the subject must not be empty'],
  [{ subject: 'a\nb' }, 'subject', 'the subject must be a single line'],
  [{ subject: 'a'.repeat(1_001) }, 'subject', 'the subject has 1001 characters; at most 1,000 are allowed'],
  [{ body: 'a\u0000' }, 'body', 'the body has control characters in it'],
  [
    { body: 'Hi\n{{ user.name | raw }}' },
    'body',
    'line 2, column 1: filter "raw" does not exist. Use one of abs, append',
  ],
  [
    { body: 'Hi\n\n {% include "x" %}' },
    'body',
    'line 3, column 2: tag "include" does not exist. Use one of assign',
  ],
  [{ body: '{% if user.x %}' }, 'body', 'line 1, column 1: tag {% if user.x %} not closed'],
  [{ preheader: 'x {{ user.name' }, 'preheader', 'line 1, column 3: output "{{ user.name" not closed'],
  [{ body: 'Hi\n{{ person.name }}' }, 'body', 'line 2, column 4: "person" is unknown. Use user, event'],
  [{ body: '{{ run.end }}' }, 'body', 'line 1, column 4: "run.end" is unknown. Use run.ends_at'],
  [{ body: '{{ user }}' }, 'body', 'line 1, column 4: "user" needs a field, such as user.name'],
])('rejects an email that cannot be rendered, and names the place: %j', (parts, field, message) => {
  const faults = checkEmail({
    subject: 'Hello',
    preheader: '',
    body: 'Hello',
    format: 'markdown',
    ...parts,
  });
  expect(faults).toEqual([{ field, message: expect.stringContaining(message) as string }]);
});

test('accepts names that the email itself assigns', () => {
  const body =
    '{% assign who = user.name %}{% for tag in user.tags %}{{ tag }}{{ forloop.index }}{% endfor %}{{ who }}';
  expect(checkEmail({ subject: 'Hello', preheader: '', body, format: 'markdown' })).toEqual([]);
});
