import type { TemplateText } from './template.ts';

/**
 * The emails of the rules with which every project starts. They apply to any product, so they promise nothing and contain no URL; their
 * only call to action is a reply. Every value of a user or an event has a fallback.
 */
const SHIPPED = {
  welcome: {
    subject: 'Welcome to {{ project.name }}',
    preheader: 'Your account is ready. What would you like to get done first?',
    body: `Hi {{ user.name | default: "there" }},

Your {{ project.name }} account is ready{% if event.plan %}, on the {{ event.plan | replace: "_", " " }} plan{% endif %}.

The best first step is a small one: take the one thing that made you sign up, and try just that today. Everything else can wait.

What is that one thing? Reply with a line about it, and we will tell you the shortest way there.

{{ project.name }}
`,
  },
  onboarding_stall: {
    subject: 'Did something get in your way?',
    preheader: 'One word in reply is enough for us to help.',
    body: `Hi {{ user.name | default: "there" }},

You signed up for {{ project.name }} {% if event.name == "user_signed_up" %}on {{ event.occurred_at | date }}{% else %}a little while ago{% endif %}, and it looks as if you have not got going yet. There is no hurry. But if something got in your way, we would like to know, because we may be able to move it:

- Something did not work, or was not clear.
- Something that you need was missing.
- It was simply not the right moment.

Which of the three is it? Reply with a word or two, and we will take it from there.

{{ project.name }}
`,
  },
  plan_limit_upsell: {
    subject:
      '{% if event.usagePercent > 0 %}You have used {{ event.usagePercent | floor }}% of your {{ event.meter | default: "plan" | replace: "_", " " }}{% else %}You are close to a limit of your plan{% endif %}',
    preheader: 'Will you need more? Reply, and we will find what fits.',
    body: `Hi {{ user.name | default: "there" }},

{% if event.usagePercent > 0 -%}
When we last counted, you had used {{ event.usagePercent | floor }}% of
{%- if event.meter and event.limit %} the {{ event.limit | number }} {{ event.meter | replace: "_", " " }} that come with
{%- elsif event.meter %} the {{ event.meter | replace: "_", " " }} that come with
{%- elsif event.limit %} the {{ event.limit | number }} that come with
{%- else %} what comes with
{%- endif %} your {% if user.plan %}{{ user.plan | replace: "_", " " }} {% endif %}plan.
{%- else -%}
When we last counted, you were close to a limit of your {% if user.plan %}{{ user.plan | replace: "_", " " }} {% endif %}plan.
{%- endif %} We are telling you now so that it does not surprise you in the middle of something.

If that was one busy spell, you may not need to change anything. If it is how much you need from now on, a bigger plan gives you room.

Which of the two is it? Reply and tell us, and we will help you find the plan that fits.

{{ project.name }}
`,
  },
  /** Names the day instead of the number of days left: the email may wait for a while, and the day stays correct. */
  trial_expiring: {
    subject:
      'Your {{ project.name }} trial ends {% if run.ends_at %}on {{ run.ends_at | date }}{% else %}soon{% endif %}',
    preheader: 'Would you like to go on? Reply, and we will help you choose a plan.',
    body: `Hi {{ user.name | default: "there" }},

Your {% if event.name == "trial_started" and event.trialDays > 0 %}{{ event.trialDays }}-day {% endif %}trial of {{ project.name }} ends {% if run.ends_at %}on {{ run.ends_at | date }}{% else %}soon{% endif %}.

If it has been useful, now is a good time to decide how to go on. If something kept you from trying it properly, that is worth a line too: we can tell you whether we have an answer to it.

Would you like to go on? Reply with a yes or with the question that is still open, and we will help you choose a plan.

{{ project.name }}
`,
  },
} satisfies Record<string, Omit<TemplateText, 'format'>>;

const EMAILS: Record<string, TemplateText> = Object.fromEntries(
  Object.entries(SHIPPED).map(([name, email]) => [name, { ...email, format: 'markdown' }]),
);

export function findShippedEmail(name: string): TemplateText | undefined {
  return Object.hasOwn(EMAILS, name) ? EMAILS[name] : undefined;
}

export function shippedEmailNames(): string[] {
  return Object.keys(EMAILS);
}
