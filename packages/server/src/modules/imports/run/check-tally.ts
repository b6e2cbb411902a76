import { CANONICAL_EVENTS, type EventInput } from '@beckon/contract';
import type { ImportCheck, PeopleCounted } from '@beckon/contract/dashboard';
import { hash } from 'node:crypto';
import type { ReadChunk } from './read-chunk.ts';
import { addFacts } from './take-chunk.ts';
import type { ImportChunk } from '../source.ts';
import type { ImportFindingRow } from '../store.ts';
import type { Trigger, WholeRule } from '../../rules/index.ts';
import { matchesWhere } from '../../../platform/predicate/compare.ts';
import { parseInstant } from '../../../platform/time/time-text.ts';

/** Adds up the results of a check. Its memory does not grow with the length of the source. */
export class CheckTally {
  rows = 0;
  bytes = 0;
  rejected = 0;
  facts: ImportCheck['facts'] = {};
  private users = 0;
  private events = 0;
  private readonly names = new Map<string, Named>();
  private readonly reasons = new Map<string, Reason>();
  private readonly people = { new: new UserCounter(), known: new UserCounter() };
  private readonly rules: RuleMatches;

  constructor({ rules, now }: { rules: WholeRule[]; now: number }) {
    this.rules = new RuleMatches(rules, now);
  }

  /** `existingIds`: those users of the chunk who exist already. */
  add(chunk: ImportChunk, read: ReadChunk, existingIds: ReadonlySet<string>): void {
    this.rows += chunk.rows;
    this.bytes += chunk.bytes ?? 0;
    this.facts = addFacts(this.facts, chunk.facts ?? {});
    this.users += read.users.length;
    this.events += read.events.length;
    for (const { record } of [...read.users, ...read.events]) {
      const { external_user_id: userId } = record;
      this.people[existingIds.has(userId) ? 'known' : 'new'].add(userId);
    }
    for (const { record } of read.events) {
      this.addName(record);
      this.rules.add(record);
    }
    for (const finding of read.rejected) this.addReason(finding);
    this.rejected += read.rejected.length;
  }

  private addName({ name, occurred_at }: EventInput): void {
    const named = this.names.get(name) ?? { events: 0, first: null, last: null };
    if (named.events === 0 && this.names.size >= NAMES_MAX) return;
    named.events += 1;
    const at = occurred_at === undefined ? Number.NaN : parseInstant(occurred_at);
    if (!Number.isNaN(at)) {
      named.first = Math.min(named.first ?? at, at);
      named.last = Math.max(named.last ?? at, at);
    }
    this.names.set(name, named);
  }

  private addReason({ field, message }: ImportFindingRow): void {
    const reasonText = `${field} ${message}`;
    const key = this.reasons.has(reasonText) || this.reasons.size < REASONS_MAX ? reasonText : OTHERS.message;
    const reason = this.reasons.get(key) ?? {
      ...(key === reasonText ? { field, message } : OTHERS),
      rows: 0,
    };
    reason.rows += 1;
    this.reasons.set(key, reason);
  }

  report(checkedAt: number): ImportCheck {
    const instant = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());
    return {
      checked_at: new Date(checkedAt).toISOString(),
      rows: this.rows,
      users: this.users,
      events: this.events,
      rejected: this.rejected,
      rejected_by: [...this.reasons.values()].toSorted((a, b) => b.rows - a.rows),
      affected_users: { new: this.people.new.counted(), known: this.people.known.counted() },
      names: [...this.names]
        .toSorted(([, a], [, b]) => b.events - a.events)
        .slice(0, NAMES_SHOWN_MAX)
        .map(([name, { events, first, last }]) => ({
          name,
          events,
          is_canonical: Object.hasOwn(CANONICAL_EVENTS, name),
          first_at: instant(first),
          last_at: instant(last),
        })),
      rules: this.rules.report(),
      emails: 0,
      facts: this.facts,
    };
  }
}

type Named = { events: number; first: number | null; last: number | null };
type Reason = { field: string | null; message: string; rows: number };

const NAMES_MAX = 10_000;
const NAMES_SHOWN_MAX = 100;
const REASONS_MAX = 100;
const OTHERS = { field: null, message: 'Other reasons' };

/** Counts the users whom the enabled rules would have evaluated if these events had been sent when they happened. */
class RuleMatches {
  private readonly anchors: Anchored[];
  private readonly now: number;

  constructor(rules: WholeRule[], now: number) {
    this.now = now;
    this.anchors = rules
      .filter(({ enabledAt }) => enabledAt !== null)
      .flatMap((rule) => anchorsOf(rule))
      .slice(0, ANCHORS_MAX);
  }

  add({ name, external_user_id: userId, properties = {}, occurred_at }: EventInput): void {
    for (const { rule, event, where, people, recent } of this.anchors) {
      if (event !== name || !matchesWhere(where, properties)) continue;
      people.add(userId);
      const at = occurred_at === undefined ? this.now : parseInstant(occurred_at);
      if (at >= this.now - rule.definition.maxEventAgeMs) recent.add(userId);
    }
  }

  report(): ImportCheck['rules'] {
    return this.anchors
      .map(({ rule, event, people, recent }) => ({
        rule: rule.id,
        name: rule.name,
        event,
        users: people.counted(),
        recent: recent.counted(),
      }))
      .filter(({ users }) => users.count > 0)
      .toSorted((a, b) => b.users.count - a.users.count);
  }
}

/** Each anchor holds two sets of users. */
const ANCHORS_MAX = 50;

type Where = Extract<Trigger, { kind: 'event' }>['where'];
type Anchored = { rule: WholeRule; event: string; where: Where; people: UserCounter; recent: UserCounter };

/** Lists the events that start a rule. Rules that start with a trait or with joining an audience depend on users, not on events. */
function anchorsOf(rule: WholeRule): Anchored[] {
  return rule.definition.when.flatMap((trigger) => {
    const event = eventOf(trigger);
    if (event === null) return [];
    const where = 'where' in trigger ? trigger.where : [];
    return [{ rule, event, where, people: new UserCounter(), recent: new UserCounter() }];
  });
}

function eventOf(trigger: Trigger): string | null {
  switch (trigger.kind) {
    case 'event':
    case 'relative':
      return trigger.event;
    case 'absence':
      return trigger.since;
    case 'audience':
    case 'date':
      return null;
  }
}

/** Beyond this number the count is reported as a minimum, so that memory stays bounded for a file of any length. */
const COUNTED_MAX = 200_000;

/** Counts distinct users, by 52 bits of a hash of their ids. */
class UserCounter {
  private readonly seen = new Set<number>();
  private hasMore = false;

  /** Returns false if the user was counted before or the maximum is reached. */
  add(userId: string): boolean {
    const key = Number.parseInt(hash('sha1', userId, 'hex').slice(0, 13), 16);
    if (this.seen.has(key)) return false;
    if (this.seen.size >= COUNTED_MAX) {
      this.hasMore = true;
      return false;
    }
    this.seen.add(key);
    return true;
  }

  counted(): PeopleCounted {
    return { count: this.seen.size, ...(this.hasMore && { at_least: true }) };
  }
}
