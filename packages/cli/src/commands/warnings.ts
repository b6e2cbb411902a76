import { list, type Noun } from '../framework/declare.ts';
import { fields } from '../output/auto.ts';

export const warnings: Noun = {
  name: 'warnings',
  help: 'List warnings about accepted records',
  commands: [
    list('GET /projects/:project/warnings', 'list', {
      help: 'List warnings about accepted records by day, newest first',
      row: fields('day warning=code records=count last_at'),
      empty: 'No warnings. Records that are accepted but look wrong are counted here.',
    }),
  ],
};
