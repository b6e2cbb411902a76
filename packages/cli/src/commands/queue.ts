import { list, type Noun } from '../framework/declare.ts';
import { fields } from '../output/auto.ts';

export const queue: Noun = {
  name: 'queue',
  help: 'Show the ingest queue',
  commands: [
    list('GET /queue', 'show', {
      help: 'Show accepted records that wait for processing or are dead-lettered, in all your projects',
      row: fields('project live bulk oldest_wait=oldest_ms dead_lettered=dead_letters'),
      empty: 'No records wait in any project, and none are dead-lettered.',
    }),
  ],
};
