import type { Command } from 'commander';
import type { FeedItem } from '@beckon/contract/dashboard';
import { followFeed } from '../api/feed.ts';
import { usage } from '../failure.ts';
import { feedLine } from '../feed-words.ts';
import { action, type Running } from '../run.ts';
import { createSeen } from '../seen.ts';
import type { Shell } from '../shell.ts';

type TailOptions = { last: string };

const LAST_MAX = 500;

export function addTail(program: Command, shell: Shell): void {
  program
    .command('tail')
    .description('follow what happens in the project, as it happens; Ctrl-C ends it')
    .argument('[filter...]', 'as in the dashboard: type:event name:trial_started user:user_42 -type:request')
    // A term that excludes begins with a minus, and is none.
    .allowUnknownOption()
    .option('--last <count>', 'show so many of the last ones first, at most 500', '0')
    .action(action<TailOptions>(shell, tail, { endsByInterrupt: true }));
}

async function tail(running: Running<TailOptions>, ...words: string[]): Promise<void> {
  const { output, signal, options, shell } = running;
  const filter = words.join(' ');
  const last = /^\d{1,3}$/.test(options.last) ? Number(options.last) : LAST_MAX + 1;
  if (last > LAST_MAX) throw usage(`--last: ${options.last} is no number from 0 to ${LAST_MAX}`, '--last');
  const { dashboard, project } = await running.inProject();
  const params = { project: project.id };
  const show = (item: FeedItem): Promise<void> => output.next(item, (shown) => feedLine(shown, output.paint));
  const isSeen = createSeen();
  let lastEventId: string | undefined;
  if (last > 0) {
    const query = { filter, limit: last };
    const { data } = await dashboard.call('GET /projects/:project/stream', { params, query });
    for (const item of data.toReversed()) if (!isSeen(item.place)) await show(item);
    lastEventId = data[0]?.place;
  }
  const feed = followFeed({
    open: (headers, until) =>
      dashboard.open('GET /projects/:project/feed', { params, query: { filter }, headers, signal: until }),
    signal,
    wait: shell.wait,
    ...(lastEventId === undefined ? {} : { lastEventId }),
    onOpen: () => output.note('Following; Ctrl-C ends it.'),
    onLost: (why) => output.note(`Connection lost (${why}); trying again …`),
    onBack: () => output.note('Connected again.'),
    onGap: () => output.note('What may have happened while the connection was away is not shown.'),
  });
  for await (const { data } of feed) {
    const item = JSON.parse(data) as FeedItem;
    if (!isSeen(item.place)) await show(item);
  }
}
