import { listMembers, MEMBERS_PAGE_MAX } from '../../audiences/index.ts';
import { listReceived, type ReceivedEvent } from '../event-history.ts';
import { listPeople } from '../../users/index.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import type { EvaluationPoint } from './evidence.ts';
import type { ReplayRange } from './replay-rule.ts';
import type { Anchor, Trigger } from '../definitions/rule.ts';
import type { TriggerMatch } from '../definitions/decide.ts';
import { dateIn, isTimed, momentOf, type Timer } from '../definitions/timers.ts';
import { type Hook, timerKey } from '../definitions/model.ts';

/** A reason to evaluate the rule for a user. `key` is the key of the timer that fired; null for an event. */
export type Occasion = EvaluationPoint & Pick<TriggerMatch, 'by'> & { hook: Hook; key: string | null };
/** A timer kept in memory. */
export type SimulatedTimer = Timer & { hook: Hook };

/** The maximum number of evaluations; more would take too long. */
export const OCCASIONS_MAX = 100_000;
const PAGE_EVENTS = 1_000;
const EVENTS_AT_ONCE = 20_000;
const DAY_MS = 86_400_000;
/** A trial that began longer ago than this is ignored. */
const PLUS_DAYS_MAX_MS = 90 * DAY_MS;
const LOOK_BACK_MAX_MS = 366 * DAY_MS;

/**
 * Yields the events that trigger the rule, page by page, in the order in which they were received. Events before the time range are
 * included if their timers may fire within it.
 */
export async function* occasionsOf(
  tx: Tx,
  { projectId, model, rule, ...play }: ReplayRange,
): AsyncGenerator<{ occasions: Occasion[]; upTo: number }, void, void> {
  const names = [...new Set(rule.definition.when.flatMap(eventOf))];
  const until = play.until + 1;
  let from = play.from - lookBackMs(rule.definition.when);
  let occasions: Occasion[] = [];
  while (names.length > 0 && from < until) {
    const page = await listReceived(tx, { projectId, names, from, until, looksAt: EVENTS_AT_ONCE });
    for (const event of page.events) {
      const hooks = model.rules.onEvent(event.name);
      const active = event.receivedAt < play.from ? hooks.filter(({ trigger }) => isTimed(trigger)) : hooks;
      occasions.push(...active.map((hook) => occasionOf(event, hook)));
    }
    from = page.upTo;
    if (occasions.length < PAGE_EVENTS) continue;
    yield { occasions, upTo: from };
    occasions = [];
  }
  yield { occasions, upTo: until };
}

function eventOf(trigger: Trigger): string[] {
  if (trigger.kind === 'audience' || trigger.kind === 'date') return [];
  return [trigger.kind === 'absence' ? trigger.since : trigger.event];
}

function lookBackMs(when: Trigger[]): number {
  return Math.min(LOOK_BACK_MAX_MS, Math.max(0, ...when.map(distanceMs)));
}

function distanceMs(trigger: Trigger): number {
  if (trigger.kind === 'absence') return trigger.ms;
  if (trigger.kind !== 'relative') return 0;
  const plus = trigger.plusDays === null ? 0 : PLUS_DAYS_MAX_MS;
  return trigger.side === 'after' ? plus + trigger.ms : plus;
}

function occasionOf(event: ReceivedEvent, hook: Hook): Occasion {
  const { id, name, properties, occurredAt, acceptedAt, seq, userId, receivedAt: at } = event;
  const anchor: Anchor = { kind: 'event', id, name, properties, occurredAt, acceptedAt, seq };
  return { userId, at, anchor, hook, by: 'record', key: null };
}

/**
 * Returns the timers that do not come from events: dates in traits, and the times at which users joined an audience. Both are as of today.
 */
export async function seedsOf(
  tx: Tx,
  play: ReplayRange,
): Promise<{ timers: SimulatedTimer[]; isCut: boolean }> {
  const { rule } = play;
  const hooks = rule.definition.when.map((trigger, position): Hook => ({ rule, trigger, position }));
  const timers: SimulatedTimer[] = [];
  let isCut = false;
  for (const hook of hooks) {
    const { trigger } = hook;
    if (trigger.kind === 'date') isCut = (await addDates(tx, play, { hook, timers })) || isCut;
    if (trigger.kind === 'audience' && trigger.move === 'joined')
      isCut = (await addMembers(tx, play, { hook, timers })) || isCut;
  }
  return { timers, isCut };
}

type SeedTarget = { hook: Hook; timers: SimulatedTimer[] };

/** Returns true if there are more. */
async function addDates(tx: Tx, play: ReplayRange, { hook, timers }: SeedTarget): Promise<boolean> {
  const { projectId } = play;
  let after: string | null = null;
  for (let count = 0; count < OCCASIONS_MAX;) {
    const people = await listPeople(tx, { projectId, after, limit: PAGE_EVENTS });
    for (const { userId, traits } of people) timers.push(...dateOf({ userId, traits }, play, hook));
    count += people.length;
    if (people.length < PAGE_EVENTS) return false;
    after = people.at(-1)?.userId ?? null;
  }
  return true;
}

function dateOf(
  { userId, traits }: { userId: string; traits: ReadonlyMap<string, unknown> },
  { from, until }: ReplayRange,
  hook: Hook,
): SimulatedTimer[] {
  const { trigger } = hook;
  if (trigger.kind !== 'date') return [];
  const { trait } = trigger;
  const occurredAt = dateIn(traits.get(trait));
  if (occurredAt === null) return [];
  const ids = { id: trait, name: trait };
  const anchor: Anchor = { kind: 'date', ...ids, properties: {}, occurredAt, acceptedAt: from, seq: null };
  const at = momentOf(trigger, anchor)?.at;
  return at === undefined || at < from || at > until ? [] : [simulatedTimer(hook, { userId, at, anchor })];
}

async function addMembers(tx: Tx, play: ReplayRange, { hook, timers }: SeedTarget): Promise<boolean> {
  const { projectId, from, until } = play;
  const { trigger } = hook;
  if (trigger.kind !== 'audience') return false;
  const { audienceId: id } = trigger;
  let after: string | null = null;
  for (let count = 0; count < OCCASIONS_MAX;) {
    const page = { projectId, reference: id, after, limit: MEMBERS_PAGE_MAX };
    const members = await listMembers(tx, page);
    for (const { external_user_id: userId, since } of members) {
      const at = Date.parse(since);
      const moments = { occurredAt: at, acceptedAt: at, seq: null };
      const anchor: Anchor = { kind: 'audience', id, name: id, properties: {}, ...moments };
      if (at >= from && at <= until) timers.push(simulatedTimer(hook, { userId, at, anchor }));
    }
    count += members.length;
    if (members.length < MEMBERS_PAGE_MAX) return false;
    after = members.at(-1)?.external_user_id ?? null;
  }
  return true;
}

function simulatedTimer(
  hook: Hook,
  { userId, at, anchor }: { userId: string; at: number; anchor: Anchor },
): SimulatedTimer {
  const { rule, trigger, position } = hook;
  const key = isTimed(trigger) ? timerKey(hook, { anchor, entryKey: '' }).key : `${position} ${anchor.id}`;
  return { projectId: 0, userId, ruleId: rule.id, key, at, version: rule.version, position, anchor, hook };
}
