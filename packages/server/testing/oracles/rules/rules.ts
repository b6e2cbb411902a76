import { HOUR, MINUTE } from '../../factories/drafts.ts';
import type { OracleEvent, OraclePerson } from './state.ts';

/**
 * The rules of the histories, each in two forms: as the document that the product parses, and as plain functions for the oracle. The four
 * named ones come with the project and have no document here.
 */
const DAY = 24 * HOUR;

export type OracleTrigger = {
  event: string;
  matches(properties: Record<string, unknown>): boolean;
  /** When the rule is evaluated. Null: immediately. `undefined`: the event contains no time. */
  at(event: OracleEvent): number | null | undefined;
  /** The time after which none of its emails is sent. */
  endsAt(event: OracleEvent): number | null;
  /** Events that must not have happened since. */
  absent: string[];
};

export type OracleStep =
  | { do: 'draft'; facts: string[] }
  | { do: 'wait'; ms: number }
  | { do: 'wait_for'; event: string; ms: number; then: OracleStep[]; otherwise: OracleStep[] };

export type OracleEntry = {
  /** `undefined`: no unique row, only one run at a time. */
  cooldownMs(key: string): number | undefined;
  key(event: OracleEvent, subject: OracleEvent | null): string;
  again(event: OracleEvent): boolean;
  single: boolean;
  /** Set if a suppressed match uses up the enrollment. */
  burns: boolean;
};

export type OracleRule = {
  name: string;
  document: object | null;
  triggers: OracleTrigger[];
  about: { event: string; until: string[] } | null;
  onlyIf(person: OraclePerson): boolean;
  goal: string | null;
  entry: OracleEntry;
  exits: string[];
  maxAgeMs: number;
  priority: number;
  counts: boolean;
  /** Null: only a member can send them. */
  deadlineMs: number | null;
  expiresMs: number;
  steps: OracleStep[];
};

type RuleFields = Pick<OracleRule, 'name' | 'triggers' | 'priority'> & Partial<OracleRule>;

function rule(fields: RuleFields): OracleRule {
  return {
    document: null,
    about: null,
    onlyIf: () => true,
    goal: null,
    entry: once(),
    exits: [],
    maxAgeMs: DAY,
    counts: true,
    deadlineMs: 2 * HOUR,
    expiresMs: 3 * DAY,
    steps: [draft()],
    ...fields,
  };
}

function draft(...more: string[]): OracleStep {
  return { do: 'draft', facts: ['name', ...more] };
}

function when(event: string, more: Partial<OracleTrigger> = {}): OracleTrigger {
  return { event, matches: () => true, at: () => null, endsAt: () => null, absent: [], ...more };
}

const FOREVER = Infinity;

function once(): OracleEntry {
  return { cooldownMs: () => FOREVER, key: () => '', again: () => false, single: false, burns: true };
}

function entry(more: Partial<OracleEntry>): OracleEntry {
  return { ...once(), burns: false, ...more };
}

/** A missing value is a value too. */
function valueKey(property: string): OracleEntry['key'] {
  return ({ properties }) => {
    const value = properties[property];
    return typeof value === 'string' ? value : JSON.stringify([value ?? null]);
  };
}

const atLeast =
  (property: string, least: number) =>
  (properties: Record<string, unknown>): boolean =>
    typeof properties[property] === 'number' && properties[property] >= least;

/** Returns the time that is as many days after the event as its property says. */
function daysAfter({ occurredAt, properties }: OracleEvent): number | null {
  const days = properties['trialDays'];
  return typeof days === 'number' && days >= 0 ? occurredAt + days * DAY : null;
}

function text(subject: string): object {
  return { draft: { subject, body: 'Hi {{ user.name | default: "there" }}.' } };
}

/** Sorted by name, as in the product. */
export const ORACLE_RULES: OracleRule[] = [
  rule({
    name: 'Invite',
    priority: 95,
    triggers: [when('invited')],
    entry: entry({ cooldownMs: () => 5 * DAY }),
    goal: 'bought',
    expiresMs: 5 * HOUR,
    steps: [
      {
        do: 'wait_for',
        event: 'accepted',
        ms: 2 * DAY,
        then: [draft()],
        otherwise: [{ do: 'wait', ms: HOUR }],
      },
      draft(),
    ],
    document: {
      name: 'Invite',
      priority: 95,
      when: { event: 'invited' },
      enrollment: { cooldown: '5d' },
      goal: { event: 'bought' },
      expires_after: '5h',
      steps: [
        { wait_for: { event: 'accepted', within: '2d' }, then: [text('Accepted')], else: [{ wait: '1h' }] },
        text('Invited'),
      ],
    },
  }),
  rule({
    name: 'Per plan',
    priority: 40,
    triggers: [when('report_made')],
    entry: entry({ key: valueKey('plan') }),
    onlyIf: ({ traits }) => traits['plan'] === 'pro',
    deadlineMs: HOUR,
    document: {
      name: 'Per plan',
      priority: 40,
      when: { event: 'report_made' },
      enrollment: { once_per: ['plan'] },
      only_if: { trait: 'plan', equals: 'pro' },
      deadline: '1h',
      steps: [text('Report')],
    },
  }),
  rule({
    name: 'Ping',
    priority: 20,
    triggers: [when('pinged', { matches: atLeast('size', 5) })],
    entry: entry({ cooldownMs: () => 2 * DAY }),
    maxAgeMs: 2 * HOUR,
    counts: false,
    deadlineMs: null,
    document: {
      name: 'Ping',
      priority: 20,
      mode: 'draft',
      when: { event: 'pinged', where: [{ property: 'size', at_least: 5 }] },
      enrollment: { cooldown: '2d' },
      max_event_age: '2h',
      counts: false,
      steps: [text('Ping')],
    },
  }),
  rule({
    name: 'Visit',
    priority: 30,
    triggers: [when('visited')],
    entry: entry({ cooldownMs: () => undefined, single: true }),
    exits: ['left'],
    deadlineMs: 10 * MINUTE,
    steps: [draft(), { do: 'wait', ms: DAY }, draft()],
    document: {
      name: 'Visit',
      priority: 30,
      when: { event: 'visited' },
      enrollment: 'one_at_a_time',
      exits: { events: ['left'] },
      deadline: '10m',
      steps: [text('First'), { wait: '1d' }, text('Second')],
    },
  }),
  rule({
    name: 'onboarding_stall',
    priority: 60,
    triggers: [
      when('user_signed_up', {
        at: ({ occurredAt }) => occurredAt + 3 * DAY,
        absent: ['onboarding_completed', 'feature_used'],
      }),
    ],
    exits: ['onboarding_completed', 'feature_used'],
    expiresMs: 7 * DAY,
    steps: [draft('zone')],
  }),
  rule({
    name: 'plan_limit_upsell',
    priority: 80,
    triggers: [when('usage_threshold_reached', { matches: atLeast('usagePercent', 80) })],
    entry: entry({
      key: valueKey('meter'),
      cooldownMs: () => 30 * DAY,
      again: ({ properties }) => atLeast('usagePercent', 100)(properties),
    }),
    steps: [draft('plan')],
  }),
  rule({
    name: 'trial_expiring',
    priority: 90,
    triggers: [
      when('trial_started', {
        matches: (properties) => atLeast('trialDays', Number.MIN_VALUE)(properties),
        at: (event) => {
          const end = daysAfter(event);
          return end === null ? undefined : end - 3 * DAY;
        },
        endsAt: daysAfter,
      }),
      when('trial_expiring', { matches: atLeast('trialDays', 0), endsAt: daysAfter }),
    ],
    about: { event: 'trial_started', until: ['subscription_started', 'subscription_canceled'] },
    entry: entry({
      key: (_event, subject) => subject?.id ?? 'none',
      cooldownMs: (key) => (key === 'none' ? 30 * DAY : FOREVER),
    }),
    exits: ['subscription_started', 'subscription_canceled'],
    steps: [draft('zone')],
  }),
  rule({ name: 'welcome', priority: 70, triggers: [when('user_signed_up')] }),
];
