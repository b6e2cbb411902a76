import type { FeedItem } from '@beckon/contract/dashboard';
import { followFeed } from '../api/feed.ts';
import { feedLine } from '../feed-words.ts';
import { custom, download, type Noun } from '../framework/declare.ts';
import { time, whole } from '../framework/options.ts';
import { readPages } from '../framework/pages.ts';
import { createSeen } from '../seen.ts';

const STREAM = 'GET /projects/:project/stream';
const FEED = 'GET /projects/:project/feed';
const SINCE_SHOWN = 500;

export const tail = custom('tail [filter...]', {
  help: 'Follow the activity stream of a project; Ctrl-C ends it',
  args: { filter: 'Filter terms such as type:event name:trial_started user:user_42 -type:request' },
  routes: [STREAM, FEED],
  options: {
    last: whole('--last <count>', 'Show the newest entries first', [0, 10_000]),
    since: time(
      '--since <time>',
      `Show at most ${SINCE_SHOWN} entries since this time first, such as 7d`,
      'back',
    ),
    noFollow: { flags: '--no-follow', help: 'End after these entries', read: (value: boolean) => !value },
  },
  isStream: true,
  async run({ api, output, shell, signal }, { filter: words, last, since, noFollow }) {
    const query = { filter: words.join(' '), ...(since === undefined ? {} : { since }) };
    const show = (item: FeedItem): Promise<void> => output.painted(item, feedLine);
    const isSeen = createSeen();
    const limit = last ?? (since === undefined ? 0 : SINCE_SHOWN);
    const { items } = await readPages<FeedItem>({ limit, isPaged: true }, (page) =>
      api.call(STREAM, { query: { ...query, ...page } }),
    );
    for (const item of items.toReversed()) if (!isSeen(item.place)) await show(item);
    if (noFollow) return;
    const feed = followFeed({
      open: (headers, until) => api.open(FEED, { query: { filter: query.filter }, headers, signal: until }),
      signal,
      wait: shell.wait,
      lastEventId: items[0]?.place,
      note: output.note,
      onOpen: 'Following the activity stream. Press Ctrl-C to end.',
      onGap: 'Entries from the time without a connection may be missing.',
    });
    for await (const data of feed) {
      const item = JSON.parse(data) as FeedItem;
      if (!isSeen(item.place)) await show(item);
    }
  },
});

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
