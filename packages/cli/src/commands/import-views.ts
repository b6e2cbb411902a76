import type { Import, ImportCheck, ImportSample } from '@beckon/contract/dashboard';
import type { Block, View } from '../output/view.ts';
import { span } from '../output/span.ts';
import { count, plain, type Words } from '../output/words.ts';

export function stateOf({ state }: Pick<Import, 'state'>): string {
  return state;
}

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

export function importView(one: Import, { when }: Words): View {
  const check = one.state === 'checked' || one.progress.rows === 0 ? one.check : null;
  return [
    {
      id: one.id,
      kind: one.kind,
      name: one.name,
      state: stateOf(one),
      problem: one.problem,
      progress: isMoving(one) ? progressText(one) : null,
      'events fire rules': one.is_live || null,
      created: when(one.created_at),
      by: one.created_by,
      ended: when(one.ended_at),
    },
    ...(check === null ? [doneDetails(one)] : checkBlocks(check, when)),
    {
      title: 'Facts of the source',
      rows: Object.entries(check?.facts ?? one.facts).map(([fact, records]) => ({
        fact: plain(fact),
        count: records,
      })),
    },
    one.progress.rejected > 0 ? `Show rejected rows: beckon imports findings ${one.id}` : null,
  ];
}

function isMoving({ state }: Import): boolean {
  return state === 'running' || state === 'checking';
}

/** How the columns of a file are read, for a dry run. */
export function sampleBlock({ columns }: ImportSample): Block {
  return {
    title: 'Columns',
    rows: columns.map(({ name, to, type, values: [first] }) => ({
      column: name,
      field: to ?? 'left out',
      type,
      example: first,
    })),
  };
}

function checkBlocks(check: ImportCheck, when: Words['when']): Block[] {
  const { new: fresh, known } = check.affected_users;
  const atLeast = fresh.at_least || known.at_least ? 'at least ' : '';
  return [
    {
      checked: when(check.checked_at),
      rows: number(check.rows),
      users: number(check.users),
      events: number(check.events),
      rejected: number(check.rejected),
      'new users': atLeast + number(fresh.count),
      'known users': atLeast + number(known.count),
      'emails sent by the import': check.emails,
    },
    {
      title: 'Rules triggered by these events (only with --live)',
      rows: check.rules.map(({ name, event, users: people, recent }) => ({
        rule: name,
        event,
        users: people.count,
        'recent enough to fire': recent.count,
      })),
    },
    {
      title: 'Events',
      rows: check.names.map(({ name, events, first_at, last_at }) => ({
        event: name,
        count: events,
        first: when(first_at),
        last: when(last_at),
      })),
    },
    { title: 'Rejected rows', rows: check.rejected_by.map((reason) => ({ ...reason })) },
  ];
}

function doneDetails({ progress, is_live: isLive }: Import): Block {
  const { rows, users, events, rejected, erased } = progress;
  if (rows === 0) return null;
  return {
    rows: `${number(rows)}, ${number(rejected)} rejected`,
    'erased users': erased > 0 ? `${count(erased, 'row')} left out` : null,
    users: `${number(users.new)} new, ${number(users.changed)} changed, ${number(users.same)} unchanged`,
    events: `${number(events.new)} new, ${number(events.known)} already known`,
    'emails sent by the import': isLive ? null : 0,
  };
}

function number(value: number): string {
  return value.toLocaleString('en-US');
}
