import type { SequenceStep } from '@beckon/contract/dashboard';
import { call, list, type Noun } from '../framework/declare.ts';
import { type Column, fields, tableOf, viewOf } from '../output/auto.ts';
import { count } from '../output/words.ts';

const STEP: Column<SequenceStep>[] = [
  'step=at',
  ['what', ({ depth, way, label }) => `${'· '.repeat(depth)}${way === null ? '' : `${way}: `}${label}`],
  ...fields('template active paused'),
];

export const sequences: Noun = {
  name: 'sequences',
  help: 'Show rules with several emails and waits',
  commands: [
    list('GET /projects/:project/sequences', 'list', {
      help: 'List sequences and the users in them',
      row: fields('id name enabled=on emails users in_older_versions trigger=sentence'),
      empty:
        'No sequences yet. A rule with several emails or waits is a sequence: beckon rules create --file <file>',
    }),
    call('GET /projects/:project/sequences/:rule', 'show <rule>', {
      help: 'Show the steps of a sequence, and how many users wait at each',
      view: (sequence) => [
        viewOf(
          sequence,
          fields('id name enabled=on trigger=sentence exit_conditions=exits goal users ended_runs=ended'),
        ),
        ...sequence.versions.map(({ version, is_present, users, steps }) => {
          const title = `Version ${version}${is_present ? ', current' : ''}: ${count(users, 'user')}`;
          return tableOf(title, steps, STEP);
        }),
      ],
    }),
  ],
};
