import type { BulkProgress } from '@beckon/client';
import type { Output } from '../output/output.ts';

export type Progress = {
  tell(now: BulkProgress): Promise<void>;
};

export type ProgressLine = {
  type: 'progress';
  rows: number;
  accepted: number;
  rejected: number;
  rows_per_s: number;
  /** Of the whole; null where nobody knows how much there is. */
  share: number | null;
  eta_s: number | null;
  state: BulkProgress['state'];
};

type Whole = {
  name: string;
  /** How many rows there are, as near as its lines tell; null for what is piped in. */
  rows: number | null;
  /** Done by earlier runs. */
  before: { rows: number; accepted: number; rejected: number };
  now: () => number;
  columns: () => number;
};

const DRAW_EVERY_MS = 100;
const SAY_EVERY_MS = 3_000;
/** The pace is that of the last seconds: the queue may have been full, or the server away. */
const WINDOW_MS = 10_000;

export function createProgress(output: Output, whole: Whole): Progress {
  const seen: { at: number; rows: number }[] = [{ at: whole.now(), rows: 0 }];
  let toldAt = whole.now();
  return {
    async tell(progress) {
      const at = whole.now();
      const isWaiting = progress.state !== 'sending';
      if (
        at - toldAt < (output.isForPeople ? DRAW_EVERY_MS : SAY_EVERY_MS) &&
        !(isWaiting && output.isForPeople)
      )
        return;
      toldAt = at;
      seen.push({ at, rows: progress.received });
      while (seen.length > 2 && at - (seen[1]?.at ?? at) > WINDOW_MS) seen.shift();
      const line = lineOf(whole, progress, paceOf(seen));
      if (output.isForPeople) await output.progress(bar(whole, line, progress.waitMs));
      else await output.next(line, () => '');
    },
  };
}

function paceOf(seen: readonly { at: number; rows: number }[]): number {
  const [first] = seen;
  const last = seen.at(-1);
  if (!first || !last || last.at === first.at) return 0;
  return ((last.rows - first.rows) / (last.at - first.at)) * 1_000;
}

function lineOf({ rows: all, before }: Whole, progress: BulkProgress, pace: number): ProgressLine {
  const rows = before.rows + progress.received;
  const left = all === null ? null : Math.max(0, all - rows);
  return {
    type: 'progress',
    rows,
    accepted: before.accepted + progress.accepted,
    rejected: before.rejected + progress.rejected,
    rows_per_s: Math.round(pace),
    share: all === null ? null : Math.min(1, rows / Math.max(1, all)),
    eta_s: left === null || pace === 0 ? null : Math.ceil(left / pace),
    state: progress.state,
  };
}

const BAR_CHARS = 24;

/** One line of a terminal; what does not fit is left out from the end. */
function bar({ name, columns }: Pick<Whole, 'name' | 'columns'>, line: ProgressLine, waitMs: number): string {
  const { share, rows, rejected, rows_per_s: pace, eta_s: etaS, state } = line;
  const filled = Math.floor((share ?? 0) * BAR_CHARS);
  const parts = [
    share === null
      ? name
      : `${'█'.repeat(filled)}${'░'.repeat(BAR_CHARS - filled)} ${Math.floor(share * 100)} %`,
    `${count(rows)} rows`,
    `${count(pace)} rows/s`,
    ...(etaS === null ? [] : [`ETA ${duration(etaS)}`]),
    ...(rejected === 0 ? [] : [`${count(rejected)} rejected`]),
    ...(state === 'sending' ? [] : [`${STATES[state]} ${Math.ceil(waitMs / 1_000)} s`]),
  ];
  while (parts.length > 1 && parts.join('  ').length >= columns()) parts.pop();
  return parts.join('  ');
}

const STATES = {
  queue_full: 'the queue is full: goes on in',
  rate_limited: 'too fast: goes on in',
  retrying: 'no answer: tries again in',
} as const;

export function count(number: number): string {
  return number.toLocaleString('en');
}

export function duration(seconds: number): string {
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  const two = (part: number): string => String(part).padStart(2, '0');
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}
