import type { Decision } from '../../features/decisions/index.ts';
import type { Person } from '../../features/people/index.ts';
import type { Model } from '../models.ts';
import type { Answered } from './members.ts';

export type Move = { audienceId: string; move: 'joined' | 'left' };

/** Who is in or out by another definition has neither joined nor left: rules that wait for either say why nothing began. */
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
 * Those whom a record, or time, brought into a definition that is not served yet, or out of it, and who neither joined nor left by the one
 * that is: when it is served they are in or out already, and the builder says nothing of them.
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
