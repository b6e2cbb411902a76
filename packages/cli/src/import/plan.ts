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

/** Which column becomes what, in the order of the columns. */
export function planColumns(names: readonly string[], { kind, map, types }: Rules): FileColumn[] {
  const said = new Map<string, Target>();
  for (const [field, column] of map) claim(said, targetOf(kind, field), column);
  const typed = new Map([...types].map(([field, type]) => [sayTarget(kind, targetOf(kind, field)), type]));
  return targetsOf(kind, names, said).map((target) => ({
    target,
    type: typed.get(sayTarget(kind, target)) ?? 'auto',
  }));
}

/** `plan` and `traits.plan` are one: what is said last holds. */
function claim(said: Map<string, Target>, target: Target, column: string): void {
  for (const [name, other] of said) if (JSON.stringify(other) === JSON.stringify(target)) said.delete(name);
  said.set(column, target);
}

/** For a file whose columns are the same in every row: better said once than of each. */
export function refuseColumns(names: readonly string[], columns: readonly FileColumn[], rules: Rules): void {
  const { kind, map, name, equalRowsAreOne } = rules;
  const has = (field: string): boolean =>
    columns.some(({ target }) => target.part === 'field' && target.name === field);
  const listed = names.join(', ');
  for (const [field, column] of map)
    if (!names.includes(column))
      throw usage(`--map ${field}=${column}: there is no such column, but ${listed}`, '--map');
  const twice = names.find((each, at) => names.indexOf(each) !== at);
  if (twice !== undefined) throw usage(`Two columns are named ${twice}`);
  if (!has('external_user_id'))
    throw usage(
      `No column is the user's id: say which with --map external_user_id=COLUMN, of ${listed}`,
      '--map',
    );
  if (kind === 'users') return;
  if (!has('name') && name === null)
    throw usage(
      `No column is the event's name: say which with --map name=COLUMN, or give it with --name`,
      '--map',
    );
  if (!has('occurred_at') && !has('message_id') && !equalRowsAreOne)
    throw usage(
      'No column says when an event happened or what its id is, so rows that are equal could not be told apart: map ' +
        'occurred_at or message_id, or say --equal-rows-are-one',
      '--map',
    );
}

export function recordRules({ kind, name, equalRowsAreOne }: Rules): RecordRules {
  return { kind, eventName: name, equalRowsAreOne };
}
