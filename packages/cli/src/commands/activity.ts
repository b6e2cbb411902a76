import { download, type Noun } from '../framework/declare.ts';
import { time } from '../framework/options.ts';

export const activity: Noun = {
  name: 'activity',
  help: 'Export the activity stream',
  commands: [
    download('GET /projects/:project/stream-export', 'export [filter...]', {
      help: 'Export the activity stream as lines of JSON, oldest first',
      options: { since: time('--since <time>', 'Only entries since this time, such as 7d', 'back') },
    }),
  ],
};
