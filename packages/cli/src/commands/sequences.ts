import type { SequenceStep } from '@beckon/contract/dashboard';
import { call, list, type Noun } from '../framework/declare.ts';
import { count, plain } from '../output/words.ts';

export const sequences: Noun = {
  name: 'sequences',
  help: 'Show rules with several emails and waits',
  commands: [
    list('GET /projects/:project/sequences', 'list', {
      help: 'List sequences and the users in them',
      row: (sequence) => ({
        id: sequence.id,
        name: sequence.name,
        state: sequence.on ? 'on' : 'off',
        emails: sequence.emails,
        users: sequence.users,
        'in older versions': sequence.in_older_versions,
        trigger: sequence.sentence,
      }),
      empty:
        'No sequences yet. A rule with several emails or waits is a sequence: beckon rules create --file <file>',
    }),
    call('GET /projects/:project/sequences/:rule', 'show <rule>', {
      help: 'Show the steps of a sequence, and how many users wait at each',
      view: (sequence) => [
        {
          id: sequence.id,
          name: sequence.name,
          state: sequence.on ? 'on' : 'off',
          trigger: sequence.sentence,
          'exit conditions': sequence.exits,
          goal: sequence.goal,
          users: sequence.users,
        },
        ...sequence.versions.map(({ version, is_present, users: people, steps }) => ({
          title: `Version ${version}${is_present ? ', current' : ''}: ${count(people, 'user')}`,
          rows: steps.map(stepRow),
        })),
        {
          title: 'Ended runs',
          rows: Object.entries(sequence.ended).map(([reason, runs]) => ({ reason: plain(reason), runs })),
        },
      ],
    }),
  ],
};

function stepRow({ at, depth, way, label, template: letter, active, frozen }: SequenceStep) {
  const branch = way === null ? '' : `${way}: `;
  return {
    step: at,
    what: `${'· '.repeat(depth)}${branch}${label}`,
    template: letter,
    active,
    frozen,
  };
}
