import type { SystemState } from '@beckon/contract/dashboard';

/** "1.4 GB", "312 KB". */
export function formatBytes(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1_000 && unit < units.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  return `${value < 10 && unit > 0 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

export const JOB_NAMES: Record<string, { name: string; does: string }> = {
  process: { name: 'Digest', does: 'what time alone changes: audiences, rules, waiting steps' },
  send: { name: 'Send', does: 'drafts whose time comes' },
  webhooks: { name: 'Tell', does: 'webhooks that are due' },
};

/** Whoever is later than this waits for something that does not run. */
const LATE_MS = 60_000;
const OFFSET_WARN_MS = 1_000;
const NEARLY_FULL = 0.8;

export type Trouble = { title: string; next: string };

/** What a person should look at, and what to do about it; empty where all is well. */
export function troublesOf({
  jobs,
  queue,
  clock_offset_ms: offset,
  sending_enabled: leave,
}: SystemState): Trouble[] {
  const troubles: Trouble[] = [];
  if (!leave)
    troubles.push({
      title: 'The database was restored: no letter leaves',
      next: 'Whoever runs the server says which may have left before: beckon-server restore status, then beckon-server confirm-restore.',
    });
  const late = jobs.filter(({ late_ms: ms }) => ms > LATE_MS);
  if (late.length > 0 || queue.oldest_ms > LATE_MS)
    troubles.push({
      title: 'Work is late',
      next: 'Is a worker running? ROLES of one process at least has to have worker; its log says why it waits.',
    });
  if (queue.live + queue.bulk > queue.max * NEARLY_FULL)
    troubles.push({
      title: 'The queue is nearly full',
      next: 'Bulk requests are refused at 50,000 and tried again by their client; live ones are always taken.',
    });
  if (queue.dead_letters > 0)
    troubles.push({
      title: `${queue.dead_letters.toLocaleString('en-GB')} ${queue.dead_letters === 1 ? 'record' : 'records'} could not be applied`,
      next: 'They stand below: retry them after an update, or discard them with a reason.',
    });
  if (offset !== null && Math.abs(offset) > OFFSET_WARN_MS)
    troubles.push({
      title: `The clock of this machine is ${offset.toLocaleString('en-GB')} ms from that of the database`,
      next: 'Let both machines keep their time by NTP.',
    });
  return troubles;
}
