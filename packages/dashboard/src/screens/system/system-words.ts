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
  process: { name: 'Processor', does: 'processes records and timers of audiences, rules and runs' },
  send: { name: 'Sender', does: 'sends drafts that are due' },
  webhooks: { name: 'Webhook dispatcher', does: 'sends webhook deliveries' },
};

/** A longer delay means that a worker is not running. */
const LATE_MS = 60_000;
const OFFSET_WARN_MS = 1_000;
const NEARLY_FULL = 0.8;

export type SystemProblem = { title: string; next: string };

/** The problems with their fixes; empty if all is well. */
export function systemProblems({
  jobs,
  queue,
  clock_offset_ms: offset,
  sending_enabled: leave,
}: SystemState): SystemProblem[] {
  const problems: SystemProblem[] = [];
  if (!leave)
    problems.push({
      title: 'The database was restored: all emails are held',
      next: 'The operator must confirm which emails may already have been sent: run beckon-server restore status, then beckon-server confirm-restore.',
    });
  const late = jobs.filter(({ late_ms: ms }) => ms > LATE_MS);
  if (late.length > 0 || queue.oldest_ms > LATE_MS)
    problems.push({
      title: 'Workers are behind',
      next: 'Check that a process with the role worker is running (ROLES). Its log shows why it waits.',
    });
  if (queue.live + queue.bulk > queue.max * NEARLY_FULL)
    problems.push({
      title: 'The ingest queue is nearly full',
      next: 'At 50,000 waiting records, bulk requests are rejected, and clients retry them. Live requests are always accepted.',
    });
  if (queue.dead_letters > 0)
    problems.push({
      title: `${queue.dead_letters.toLocaleString('en-GB')} ${queue.dead_letters === 1 ? 'record' : 'records'} could not be processed`,
      next: 'Under Activity → Dead letters, retry these records after an update of Beckon, or discard them with a reason.',
    });
  if (offset !== null && Math.abs(offset) > OFFSET_WARN_MS)
    problems.push({
      title: `The clock of this machine differs from the database by ${offset.toLocaleString('en-GB')} ms`,
      next: 'Synchronize both machines with NTP.',
    });
  return problems;
}
