import type { Decision, Model } from '../rules/index.ts';
import type { Person } from '../users/index.ts';
import type { Answered } from './evaluate-audiences.ts';

export type Move = { audienceId: string; move: 'joined' | 'left' };

/** A change of definition is neither a join nor a leave. Rules with such a trigger log it as the reason why no run began. */
export function notConsidered(
  { rules }: Pick<Model, 'rules'>,
  { projectId, userId }: Pick<Person, 'projectId' | 'userId'>,
  { audienceId, move, now }: Move & { now: number },
): Decision[] {
  return rules.onMove(audienceId, move).map(({ rule }) => ({
    projectId,
    userId,
    ruleId: rule.id,
    key: '',
    reason: 'definition_change',
    detail: { audience_id: audienceId, move },
    at: now,
  }));
}

/**
 * Returns decisions for users whom a record or time moved into or out of an edition that is not served yet. Users who made the same move in
 * the served edition are left out. When the new edition is served, they are already in or out, so the build reports nothing about them.
 */
export function unheardMoves(answered: Answered[], models: Map<number, Model>, now: number): Decision[] {
  return answered.flatMap(({ person, verdicts }) => {
    const model = models.get(person.projectId);
    const moves = verdicts.filter(({ move }) => move !== 'none');
    const isHeard = (one: (typeof moves)[number]): boolean =>
      moves.some(
        ({ edition, move }) =>
          edition.state === 'served' && edition.audienceId === one.edition.audienceId && move === one.move,
      );
    return moves.flatMap((one) => {
      if (!model || one.move === 'none' || isHeard(one)) return [];
      return notConsidered(model, person, { audienceId: one.edition.audienceId, move: one.move, now });
    });
  });
}
