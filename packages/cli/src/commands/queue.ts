import { list, type Noun } from '../framework/declare.ts';
import { span } from '../output/span.ts';

export const queue: Noun = {
  name: 'queue',
  help: 'Show the ingest queue',
  commands: [
    list('GET /queue', 'show', {
      help: 'Show accepted records that wait for processing or are dead-lettered, in all your projects',
      row: ({ project, live, bulk, dead_letters: dead, oldest_ms }) => ({
        project: project.name,
        id: project.id,
        live,
        bulk,
        'oldest wait': live + bulk === 0 ? null : span(oldest_ms),
        'dead-lettered': dead,
      }),
      empty: 'No records wait in any project, and none are dead-lettered.',
    }),
  ],
};
