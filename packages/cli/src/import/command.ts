import { usage } from '../failure.ts';
import { type Command, custom } from '../framework/declare.ts';
import { choice, flag, many, type Option, text } from '../framework/options.ts';
import { canAsk } from '../shell.ts';
import { type ImportKind, type ImportOptions, VALUE_TYPES, type ValueType } from './options.ts';

/** Imports run unattended, so they wait out a restart of the server. */
const LONG_RETRY = { attempts: 20, totalMs: 15 * 60_000 };

/** `beckon users import <file>` and `beckon events import <file>`. */
export function importCommand(kind: ImportKind): Command {
  return custom('import <file>', {
    help: `Import ${kind} from a CSV or JSONL file`,
    details: DETAILS[kind],
    args: { file: 'Path of the file; - reads stdin' },
    options: { ...OPTIONS, ...(kind === 'events' ? EVENT_OPTIONS : NO_EVENT_OPTIONS) },
    async run({ client, output, signal, shell, options }, input) {
      if (input.file === '-' && options.keyFile === '-')
        throw usage('The file and --key-file cannot both be read from stdin');
      // Loaded here, because only imports need it.
      const { runImport } = await import('./index.ts');
      const wanted: ImportOptions = { ...DEFAULTS, ...input, kind };
      return runImport(wanted, {
        client: wanted.dryRun ? null : await client({ retry: LONG_RETRY }),
        output,
        shell,
        askText: canAsk(shell, options.json) ? shell.ask.text : null,
        signal,
      });
    },
  });
}

const DEFAULTS = {
  format: null,
  delimiter: null,
  name: null,
  dryRun: false,
  live: null,
  equalRowsAreOne: false,
  restart: false,
};

/** How columns become fields, for imports through the API and on the server. */
export const MAPPING_OPTIONS = {
  map: pairs('--map <field=column>', 'Column that a field is read from; repeat for each field'),
  types: typedPairs(
    '--types <field=type>',
    `Type of a field: ${VALUE_TYPES.join(', ')}; repeat for each field`,
  ),
};
const OPTIONS = {
  format: choice('--format <format>', 'Format of the file; detected by default', ['csv', 'jsonl']),
  delimiter: text(
    '--delimiter <character>',
    'Column separator of a CSV file; detected by default',
    readDelimiter,
  ),
  ...MAPPING_OPTIONS,
  dryRun: flag('--dry-run', 'Send nothing: count the records, show the first ones, and list invalid rows'),
  restart: flag('--restart', 'Start with the first row, even if an earlier run was interrupted'),
};
const EVENT_OPTIONS = {
  name: text('--name <event>', 'Name of all events, if the file has no column for it'),
  equalRowsAreOne: flag(
    '--equal-rows-are-one',
    'Accept rows without a time and an ID; equal rows count once',
  ),
  live: liveOption('--live [count]', 'Let rules fire; pass the number of events that --dry-run counted'),
};
const NO_EVENT_OPTIONS: Partial<typeof EVENT_OPTIONS> = {};

const CELLS = `
Empty cells are left out. true and false are booleans. Plain numbers are numbers, unless digits would be lost (01234
stays text). IDs, names, plans, companies and roles are text. Everything else is text, unless --types says otherwise.
Dates: 2026-01-31, 2026-01-31 14:30 (UTC), 2026-01-31T14:30:00+02:00, or seconds or milliseconds since 1970.
Rejected rows are written to FILE.rejected.csv with their line and the reason.
An interrupted import continues where it stopped: run the same command again.`;

const DETAILS: Record<ImportKind, string> = {
  users: `Columns named like the fields of a user (id, email, name, plan, created_at, …) are detected; every other column
becomes a trait. Name fields as email, traits.seats or seats.${CELLS}`,
  events: `Columns named like the fields of an event (user_id, event, timestamp, message_id, …) are detected; every other
column becomes a property. Imported events are history: no rule fires for them without --live.${CELLS}`,
};

function readDelimiter(given: string): string {
  const character = given === 'tab' || given === '\\t' ? '\t' : given;
  if (/^[\t\x20-\x7e]$/.test(character) && character !== '"') return character;
  throw usage('--delimiter must be one ASCII character, or tab', '--delimiter');
}

function pairs(flags: string, help: string): Option<Map<string, string>> {
  const [name = ''] = flags.split(' ');
  return {
    ...many(flags, help),
    read(given: readonly string[] | undefined) {
      const found = new Map<string, string>();
      for (const pair of given ?? []) {
        const at = pair.indexOf('=');
        const field = pair.slice(0, at);
        if (at < 1 || at === pair.length - 1) throw usage(`${name} ${pair}: write field=value`, name);
        if (found.has(field)) throw usage(`${name} has two values for ${field}`, name);
        found.set(field, pair.slice(at + 1));
      }
      return found;
    },
  };
}

function typedPairs(flags: string, help: string): Option<Map<string, ValueType>> {
  const option = pairs(flags, help);
  const read = option.read as (given: readonly string[] | undefined) => Map<string, string>;
  return {
    ...option,
    read: (given: readonly string[] | undefined) =>
      new Map([...read(given)].map(([field, type]) => [field, readType(type)])),
  };
}

function readType(given: string): ValueType {
  const type = VALUE_TYPES.find((one) => one === given);
  if (type !== undefined) return type;
  throw usage(`--types: ${given} is none of ${VALUE_TYPES.join(', ')}`, '--types');
}

function liveOption(flags: string, help: string): Option<number | true | undefined> {
  return {
    flags,
    help,
    read(given: string | true | undefined) {
      if (given === undefined || given === true) return given;
      // As the dry run prints it, with or without separators.
      const digits = given.replaceAll(/[,_]/g, '');
      if (/^\d{1,12}$/.test(digits)) return Number(digits);
      throw usage('--live takes the number of events that --dry-run counted', '--live');
    },
  };
}
