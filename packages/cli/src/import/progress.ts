import type { BulkProgress } from '@beckon/client';
import type { Output } from '../output/output.ts';

export type Progress = {
  update(now: BulkProgress): Promise<void>;
};

type ProgressLine = {
  rows: number;
  accepted: number;
  rejected: number;
  rows_per_s: number;
  /** Null when the number of rows is unknown. */
  share: number | null;
  eta_s: number | null;
  state: BulkProgress['state'];
};

type Whole = {
  name: string;
  /** Estimated from the lines of the file; null for stdin. */
  rows: number | null;
  /** Finished by earlier runs. */
  before: { rows: number; accepted: number; rejected: number };
  now: () => number;
  columns: () => number;
};

const DRAW_EVERY_MS = 100;
/** The pace of the last seconds: before, the queue may have been full. */
const WINDOW_MS = 10_000;

export function createProgress(output: Output, whole: Whole): Progress {
  const samples: { at: number; rows: number }[] = [{ at: whole.now(), rows: 0 }];
  let drawnAt = whole.now();
  return {
    async update(progress) {
      const at = whole.now();
      if (at - drawnAt < DRAW_EVERY_MS && progress.state === 'sending') return;
      drawnAt = at;
      samples.push({ at, rows: progress.received });
      while (samples.length > 2 && at - (samples[1]?.at ?? at) > WINDOW_MS) samples.shift();
      await output.progress(bar(whole, lineOf(whole, progress, paceOf(samples)), progress.waitMs));
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

/** Parts that do not fit on the line are left out from the end. */
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
  queue_full: 'queue full, continues in',
  rate_limited: 'rate limited, continues in',
  retrying: 'no response, retries in',
} as const;

export function count(number: number): string {
  return number.toLocaleString('en');
}

export function duration(seconds: number): string {
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  const two = (part: number): string => String(part).padStart(2, '0');
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}
