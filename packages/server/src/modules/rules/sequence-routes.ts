import type { SequenceListed } from '@beckon/contract/dashboard';
import { userClauseOf } from '../../platform/predicate/sentence.ts';
import { audienceNames } from './audience-names.ts';
import { type SequenceSummary, listSequences, showSequence } from './show-sequences.ts';
import { routesFor } from '../workspace/index.ts';

const { route } = routesFor();

export const sequenceRoutes = [
  route('GET /projects/:project/sequences', {
    needs: 'viewer',
    isHeavy: true,
    async handle({ db }, { projectId }) {
      const names = await audienceNames(db, projectId);
      const sequences = await listSequences(db, { projectId, now: db.clock.now() });
      const data = sequences.map((sequence) => sequenceSummary(sequence, names));
      const pagination = { total: data.length, offset: 0, limit: data.length };
      return { data, meta: { pagination, cursor: null } };
    },
  }),
  route('GET /projects/:project/sequences/:rule', {
    needs: 'viewer',
    isHeavy: true,
    async handle({ db }, { projectId, params: { rule: reference } }) {
      const names = await audienceNames(db, projectId);
      const sequence = await showSequence(db, { projectId, reference, now: db.clock.now() });
      return {
        data: {
          ...sequenceSummary(sequence, names),
          ended: sequence.ended,
          versions: sequence.versions.map(({ isPresent, ...version }) => ({
            ...version,
            is_present: isPresent,
          })),
        },
      };
    },
  }),
];

type Names = Awaited<ReturnType<typeof audienceNames>>;

function sequenceSummary(
  { rule, sentence, emails, users, inOlderVersions }: SequenceSummary,
  names: Names,
): SequenceListed {
  const { exits, goal } = rule.definition;
  return {
    id: rule.id,
    name: rule.name,
    on: rule.enabledAt !== null,
    version: rule.version,
    sentence,
    emails,
    exits: [
      ...exits.events.map((event) => `${event} happens`),
      ...(exits.when ? [userClauseOf(exits.when, names)] : []),
      ...(exits.onReply ? ['the user replies'] : []),
    ],
    goal: goal && userClauseOf(goal, names),
    users,
    in_older_versions: inOlderVersions,
  };
}
