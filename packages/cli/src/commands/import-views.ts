import type { Import, ImportSample } from '@beckon/contract/dashboard';
import { fields, tableOf, viewOf } from '../output/auto.ts';
import type { Block } from '../output/view.ts';
import { span } from '../output/words.ts';

/** One line while an import runs. */
export function progressText({ state, progress }: Import): string {
  const { rows, rows_total: total, rows_per_s: rate, seconds_left: left, waits_for } = progress;
  return [
    `${state}: ${number(rows)}${total === null ? '' : ` of ${number(total)}`} rows`,
    ...(rate === null ? [] : [`${number(Math.round(rate))} per second`]),
    ...(left === null ? [] : [`about ${span(left * 1000)} left`]),
    ...(waits_for === null ? [] : [WAITS[waits_for]]),
  ].join(', ');
}

const WAITS: Record<NonNullable<Import['progress']['waits_for']>, string> = {
  queue: 'waiting because the ingest queue is full',
  another_import: 'waiting for another import of this project',
  worker: 'waiting for a worker',
};

export function importView(job: Import): Block[] {
  const { check, progress, state } = job;
  const isOpen = state === 'checked' || progress.rows === 0;
  return [
    viewOf(
      job,
      fields('id kind name state problem events_fire_rules=is_live created_at created_by ended_at'),
    ),
    state === 'running' || state === 'checking' ? progressText(job) : null,
    check !== null && isOpen ? viewOf(check, CHECK) : null,
    isOpen ? null : viewOf({ ...progress, facts: job.facts }, DONE),
    progress.rejected > 0 ? `Show rejected rows: beckon imports findings ${job.id}` : null,
  ];
}

const CHECK = [
  ...fields(
    'checked_at rows users events rejected matched_users=affected_users emails_sent_by_the_import=emails',
  ),
  ...fields('rules_that_live_events_start=rules event_names=names rejected_rows=rejected_by facts'),
];
const DONE = fields('rows rejected rows_of_erased_users=erased users events facts');

/** How the columns of a file are read, for a dry run. */
export function sampleBlock({ columns }: ImportSample): Block {
  return tableOf('Columns', columns, [
    'column=name',
    ['field', ({ to }) => to ?? 'left out'],
    'type',
    ['example', ({ values }) => values[0]],
  ]);
}

function number(value: number): string {
  return value.toLocaleString('en-US');
}
