import { list, type Noun } from '../framework/declare.ts';
import { plain } from '../output/words.ts';

export const warnings: Noun = {
  name: 'warnings',
  help: 'List warnings about accepted records',
  commands: [
    list('GET /projects/:project/warnings', 'list', {
      help: 'List warnings about accepted records by day, newest first',
      row: ({ day, code, count, last_at }, { when }) => ({
        day,
        warning: plain(code),
        records: count,
        last: when(last_at),
      }),
      empty: 'No warnings. Records that are accepted but look wrong are counted here.',
    }),
  ],
};
