import { CANONICAL_EVENTS, type EventInput } from '@beckon/contract';
import type { ImportCheck } from '@beckon/contract/dashboard';
import { parseInstant } from '../../../platform/time/instant.ts';
import type { Finding } from '../store.ts';
import type { ImportChunk } from '../source.ts';
import type { WholeRule } from '../../rules/index.ts';
import { RulesAsked } from './check-rules.ts';
import type { ReadChunk } from './read-chunk.ts';
import { SomePeople } from './bounded-user-list.ts';
import { addFacts } from './take-chunk.ts';

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
  private readonly people = { new: new SomePeople(), known: new SomePeople() };
  private readonly rules: RulesAsked;

  constructor({ rules, now }: { rules: WholeRule[]; now: number }) {
    this.rules = new RulesAsked(rules, now);
  }

  /** `known`: those users of the chunk who exist already. */
  add(chunk: ImportChunk, read: ReadChunk, known: ReadonlySet<string>): void {
    this.rows += chunk.rows;
    this.bytes += chunk.bytes ?? 0;
    this.facts = addFacts(this.facts, chunk.facts ?? {});
    this.users += read.users.length;
    this.events += read.events.length;
    for (const { record } of [...read.users, ...read.events]) {
      const { external_user_id: userId } = record;
      this.people[known.has(userId) ? 'known' : 'new'].add(userId);
    }
    for (const { record } of read.events) {
      this.addName(record);
      this.rules.ask(record);
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

  private addReason({ field, message }: Finding): void {
    const given = `${field} ${message}`;
    const key = this.reasons.has(given) || this.reasons.size < REASONS_MAX ? given : OTHERS.message;
    const reason = this.reasons.get(key) ?? { ...(key === given ? { field, message } : OTHERS), rows: 0 };
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
