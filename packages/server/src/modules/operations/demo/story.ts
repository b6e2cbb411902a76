import { castOf, type Character } from './cast.ts';
import type { Random } from './random.ts';

/** The requests that Harbour's server would have sent, in order of time. */
export type SimulatedRequest = { at: number } & (
  | { kind: 'user'; record: { external_user_id: string; email?: string; traits: Record<string, unknown> } }
  | { kind: 'event'; record: { external_user_id: string; name: string; properties: Record<string, unknown> } }
);

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const TRIAL_DAYS = 14;
const FEATURES = ['board', 'timeline', 'reports', 'automation', 'api'] as const;
const PLANS = [
  ['starter', 19],
  ['team', 49],
  ['business', 149],
] as const;
const PEOPLE_A_DAY = 3.8;

export type Span = { from: number; to: number };

/** Returns ninety days of a product: users sign up, try it, stay or leave. */
export function storyOf(random: Random, span: Span): SimulatedRequest[] {
  const acts = castOf(random, Math.round(((span.to - span.from) / DAY) * PEOPLE_A_DAY)).flatMap((character) =>
    lifeOf(random, character, span),
  );
  return acts.filter(({ at }) => at < span.to).toSorted((a, b) => a.at - b.at);
}

function lifeOf(random: Random, character: Character, { from, to }: Span): SimulatedRequest[] {
  // Each month has more sign-ups than the one before; the square root sets the growth.
  const begin = from + Math.sqrt(random.next()) * (to - from);
  const acts: SimulatedRequest[] = [];
  const user = (at: number, traits: Record<string, unknown>): void => {
    const email = character.email === null ? {} : { email: character.email };
    acts.push({ at, kind: 'user', record: { external_user_id: character.id, ...email, traits } });
  };
  const event = (at: number, name: string, properties: Record<string, unknown> = {}): void => {
    acts.push({ at, kind: 'event', record: { external_user_id: character.id, name, properties } });
  };
  const { name, company, role, timezone } = character;
  user(begin, {
    name,
    company,
    role,
    timezone,
    plan: 'trial',
    signupDate: new Date(begin).toISOString(),
    seats: 1,
  });
  event(begin + 1_000, 'user_signed_up', { source: random.pick(['search', 'friend', 'blog', 'ad']) });
  event(begin + 2_000, 'trial_started', { trialDays: TRIAL_DAYS });
  const stays = tries(random, character, { begin, event });
  const pays = begin + TRIAL_DAYS * DAY * (0.5 + random.next() * 0.6);
  if (!stays || !random.chance(0.25 + character.interest * 0.6)) return acts;
  const [plan, price] = random.pick(PLANS);
  user(pays, { plan, seats: random.whole(1, 24) });
  event(pays + 1_000, 'subscription_started', { plan, mrr: price });
  uses(random, character, { begin: pays, until: to, event });
  return acts;
}

type ActivityContext = {
  begin: number;
  event: (at: number, name: string, properties?: Record<string, unknown>) => void;
};

/** Simulates the first two weeks. Returns false if the user never starts. */
function tries(random: Random, character: Character, { begin, event }: ActivityContext): boolean {
  if (random.chance(0.22)) return false;
  let at = begin + random.wait(6 * HOUR);
  event(at, 'project_created', { template: random.pick(['blank', 'launch', 'sprint']) });
  at += random.wait(DAY);
  if (random.chance(0.6 + character.interest * 0.3))
    event(at, 'onboarding_completed', { steps: random.whole(4, 6) });
  for (
    let remaining = random.whole(2, 6 + Math.round(character.interest * 8));
    remaining > 0;
    remaining -= 1
  ) {
    at += random.wait(1.2 * DAY);
    event(at, 'feature_used', { feature: random.pick(FEATURES), seconds: random.whole(20, 900) });
  }
  if (random.chance(0.35)) event(at + random.wait(DAY), 'teammate_invited', { seats: random.whole(2, 8) });
  return true;
}

/** Simulates the time after the trial, until the user cancels or the story ends. */
function uses(
  random: Random,
  character: Character,
  { begin, until, event }: ActivityContext & { until: number },
): void {
  let at = begin;
  let usage = random.whole(10, 60);
  for (;;) {
    at += random.wait((2.4 - character.interest) * DAY);
    if (at >= until) return;
    event(at, 'feature_used', { feature: random.pick(FEATURES), seconds: random.whole(20, 1_800) });
    usage += random.whole(0, 6);
    if (usage >= 80 && random.chance(0.3)) {
      event(at + 1_000, 'usage_threshold_reached', {
        usagePercent: Math.min(usage, 110),
        meter: 'tasks',
        limit: 1_000,
      });
      usage = random.chance(0.5) ? 40 : usage;
    }
    if (random.chance(0.012)) event(at + 2_000, 'payment_failed', { attempt: 1 });
    if (random.chance(0.008)) {
      event(at + 3_000, 'subscription_canceled', {
        reason: random.pick(['price', 'missing feature', 'closed']),
      });
      return;
    }
  }
}
