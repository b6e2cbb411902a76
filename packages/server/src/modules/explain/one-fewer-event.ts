import type { Facts, NthQuestion, WindowSum } from '../../platform/predicate/predicate.ts';
import { matchesWhere } from '../../platform/predicate/compare.ts';
import { answerThen } from './event-history.ts';
import type { PersonId } from '../users/index.ts';
import type { ActiveRule, Anchor } from '../rules/index.ts';
import type { Tx } from '../../platform/db/statements.ts';

/** The time of the occurrence one before the nth newest, by question key. After one more event, it is the nth newest. */
export type OneFewer = Map<string, number | null>;

/** Answers the questions that the conditions of these rules contain about their own trigger events. */
export async function findOneFewer(
  tx: Tx,
  rules: ActiveRule[],
  { projectId, userId, now }: PersonId & { now: number },
): Promise<OneFewer> {
  const questions = new Map<string, NthQuestion>();
  for (const { definition, conditions } of rules) {
    const starting = new Set(definition.when.map((trigger) => ('event' in trigger ? trigger.event : '')));
    for (const question of conditions.mentions.flatMap((one) => [...one.questions.values()]))
      if (question.kind === 'nth' && question.nth > 1 && starting.has(question.event))
        questions.set(question.key, question);
  }
  const found: OneFewer = new Map();
  for (const question of questions.values()) {
    const fewer = { ...question, nth: question.nth - 1 };
    const [answer] = await answerThen(tx, fewer, [{ projectId, userId, by: now }]);
    found.set(question.key, answer?.at ?? null);
  }
  return found;
}

/** Returns the facts after one more event. Audiences that the user would join by it are left out. */
export function withOneMore(facts: Facts, { name, properties }: Anchor, fewer: OneFewer): Facts {
  const { now } = facts;
  return {
    ...facts,
    total(event) {
      const known = facts.total(event);
      if (event !== name) return known;
      return { count: (known?.count ?? 0) + 1, firstAt: known?.firstAt ?? now, lastAt: now };
    },
    nth(question) {
      const { event, window, nth, key } = question;
      if (event !== name || !matchesWhere(window.where, properties)) return facts.nth(question);
      return nth === 1 ? now : (fewer.get(key) ?? null);
    },
    sum(question): WindowSum {
      const known = facts.sum(question);
      const { event, window, property } = question;
      const value = Object.hasOwn(properties, property) ? properties[property] : undefined;
      const adds = event === name && matchesWhere(window.where, properties) && typeof value === 'number';
      return adds ? { sum: known.sum + value, oldestAt: known.oldestAt ?? now } : known;
    },
  };
}
