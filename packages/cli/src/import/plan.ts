import {
  type FileColumn,
  type RecordRules,
  sayTarget,
  type Target,
  targetOf,
  targetsOf,
} from '@beckon/contract/files';
import { usage } from '../failure.ts';
import type { ImportOptions } from './options.ts';

export type Rules = Pick<ImportOptions, 'kind' | 'map' | 'types' | 'name' | 'equalRowsAreOne'>;

/** Assigns each column its target, in the order of the columns. */
export function planColumns(names: readonly string[], { kind, map, types }: Rules): FileColumn[] {
  const mapped = new Map<string, Target>();
  for (const [field, column] of map) claim(mapped, targetOf(kind, field), column);
  const typed = new Map([...types].map(([field, type]) => [sayTarget(kind, targetOf(kind, field)), type]));
  return targetsOf(kind, names, mapped).map((target) => ({
    target,
    type: typed.get(sayTarget(kind, target)) ?? 'auto',
  }));
}

/** `plan` and `traits.plan` are the same target; the last one wins. */
function claim(mapped: Map<string, Target>, target: Target, column: string): void {
  for (const [name, other] of mapped)
    if (JSON.stringify(other) === JSON.stringify(target)) mapped.delete(name);
  mapped.set(column, target);
}

/** Checks the columns of a CSV file once, instead of each row. */
export function refuseColumns(names: readonly string[], columns: readonly FileColumn[], rules: Rules): void {
  const { kind, map, name, equalRowsAreOne } = rules;
  const has = (field: string): boolean =>
    columns.some(({ target }) => target.part === 'field' && target.name === field);
  const listed = names.join(', ');
  for (const [field, column] of map)
    if (!names.includes(column))
      throw usage(`--map ${field}=${column}: no such column. Columns: ${listed}`, '--map');
  const twice = names.find((each, at) => names.indexOf(each) !== at);
  if (twice !== undefined) throw usage(`Two columns are named ${twice}`);
  if (!has('external_user_id'))
    throw usage(
      `No column holds the user ID. Pass --map external_user_id=COLUMN. Columns: ${listed}`,
      '--map',
    );
  if (kind === 'users') return;
  if (!has('name') && name === null)
    throw usage(`No column holds the event name. Pass --map name=COLUMN, or --name <event>.`, '--map');
  if (!has('occurred_at') && !has('message_id') && !equalRowsAreOne)
    throw usage(
      'No column holds the time or ID of an event, so equal rows cannot be distinguished. Map occurred_at or message_id, ' +
        'or pass --equal-rows-are-one.',
      '--map',
    );
}

export function recordRules({ kind, name, equalRowsAreOne }: Rules): RecordRules {
  return { kind, eventName: name, equalRowsAreOne };
}
