import type { EventInput } from '@beckon/contract';
import type { ImportCheck } from '@beckon/contract/dashboard';
import { matchesWhere } from '../../../platform/predicate/matches.ts';
import { parseInstant } from '../../../platform/time/instant.ts';
import type { Trigger, WholeRule } from '../../rules/index.ts';
import { SomePeople } from './bounded-user-list.ts';

/** Counts the users whom the enabled rules would have evaluated if these events had been sent when they happened. */
export class RulesAsked {
  private readonly anchors: Anchored[];
  private readonly now: number;

  constructor(rules: WholeRule[], now: number) {
    this.now = now;
    this.anchors = rules
      .filter(({ enabledAt }) => enabledAt !== null)
      .flatMap((rule) => anchorsOf(rule))
      .slice(0, ANCHORS_MAX);
  }

  ask({ name, external_user_id: userId, properties = {}, occurred_at }: EventInput): void {
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
type Anchored = { rule: WholeRule; event: string; where: Where; people: SomePeople; recent: SomePeople };

/** Lists the events that start a rule. Rules that start with a trait or with joining an audience depend on users, not on events. */
function anchorsOf(rule: WholeRule): Anchored[] {
  return rule.definition.when.flatMap((trigger) => {
    const event = eventOf(trigger);
    if (event === null) return [];
    const where = 'where' in trigger ? trigger.where : [];
    return [{ rule, event, where, people: new SomePeople(), recent: new SomePeople() }];
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
