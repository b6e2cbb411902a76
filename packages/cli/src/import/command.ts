import { Command } from 'commander';
import { usage } from '../failure.ts';
import {
  type ImportFormat,
  type ImportKind,
  type ImportOptions,
  VALUE_TYPES,
  type ValueType,
} from './options.ts';

/** `beckon users import FILE` or `beckon events import FILE`; what it asks for is handed to `act`. */
export function importCommand(
  kind: ImportKind,
  act: (options: ImportOptions, command: Command) => Promise<void>,
): Command {
  const command = new Command('import')
    .description(`Import ${kind} from a CSV or JSONL file; - reads what is piped in.`)
    .argument('<file>', 'the file, or -')
    .option('--format <format>', 'csv or jsonl; told by the file where left out')
    .option('--delimiter <character>', 'between the columns of a CSV file; found by itself where left out')
    .option('--map <field=column>', 'which column a field is read from; again for each field', collect)
    .option(
      '--types <field=type>',
      `how a field is read: ${VALUE_TYPES.join(', ')}; again for each field`,
      collect,
    )
    .option('--dry-run', 'send nothing: count, show the first records, and say what is wrong with which rows')
    .option('--restart', 'begin with the first row, whatever an earlier run left');
  if (kind === 'events') addEventOptions(command);
  command.addHelpText('after', HELP[kind]);
  return command.action((file: string, flags: Flags) => act(readOptions(kind, file, flags), command));
}

function addEventOptions(command: Command): void {
  command
    .option('--name <event>', 'the name of all events, where the file has no column for it')
    .option('--equal-rows-are-one', 'take rows without a time and an id; those that are equal count once')
    .option('--live [count]', 'let rules fire; with the number of events that --dry-run counted');
}

const CELLS = `
Empty cells are left out. true and false are booleans and plain numbers are numbers, unless digits would be lost (01234 stays
text); ids, names, plans, companies and roles are text; everything else is text, unless --types says otherwise. Dates are
2026-01-31, 2026-01-31 14:30 (in UTC), 2026-01-31T14:30:00+02:00, or seconds or milliseconds since 1970.
Rows that are not taken are written to FILE.rejected.csv, with their line and what is wrong.
A file that was not finished goes on where it stopped: run the same command again.`;

const HELP: Record<ImportKind, string> = {
  users: `
Columns named like the fields of a user (id, email, name, plan, created_at, …) are found by themselves; every other column
becomes a trait. Name fields as email, traits.seats or seats.${CELLS}`,
  events: `
Columns named like the fields of an event (user_id, event, timestamp, message_id, …) are found by themselves; every other
column becomes a property. Imports are history: no rule fires for them, unless you say --live.${CELLS}`,
};

type Flags = {
  format?: string;
  delimiter?: string;
  map?: string[];
  types?: string[];
  name?: string;
  dryRun?: true;
  live?: string | true;
  equalRowsAreOne?: true;
  restart?: true;
};

function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}

function readOptions(kind: ImportKind, file: string, flags: Flags): ImportOptions {
  return {
    kind,
    file,
    format: readFormat(flags.format),
    delimiter: readDelimiter(flags.delimiter),
    map: pairs(flags.map, '--map'),
    types: new Map([...pairs(flags.types, '--types')].map(([field, type]) => [field, readType(type)])),
    name: flags.name ?? null,
    dryRun: flags.dryRun ?? false,
    live: readLive(flags.live),
    equalRowsAreOne: flags.equalRowsAreOne ?? false,
    restart: flags.restart ?? false,
  };
}

function readFormat(text: string | undefined): ImportFormat | null {
  if (text === undefined || text === 'csv' || text === 'jsonl') return text ?? null;
  throw usage('--format is csv or jsonl', '--format');
}

function readDelimiter(text: string | undefined): string | null {
  if (text === undefined) return null;
  const character = text === 'tab' || text === '\\t' ? '\t' : text;
  if (/^[\t\x20-\x7e]$/.test(character) && character !== '"') return character;
  throw usage('--delimiter is one ASCII character, or tab', '--delimiter');
}

function pairs(texts: readonly string[] = [], flag: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const text of texts) {
    const at = text.indexOf('=');
    const field = text.slice(0, at);
    if (at < 1 || at === text.length - 1) throw usage(`${flag} ${text}: write it as field=value`, flag);
    if (found.has(field)) throw usage(`${flag} names ${field} twice`, flag);
    found.set(field, text.slice(at + 1));
  }
  return found;
}

function readType(text: string): ValueType {
  const type = VALUE_TYPES.find((one) => one === text);
  if (type === undefined) throw usage(`--types: ${text} is none of ${VALUE_TYPES.join(', ')}`, '--types');
  return type;
}

function readLive(text: string | true | undefined): number | true | null {
  if (text === undefined || text === true) return text ?? null;
  // As people read it off the dry run: with or without its commas.
  const digits = text.replaceAll(/[,_]/g, '');
  if (/^\d{1,12}$/.test(digits)) return Number(digits);
  throw usage('--live takes the number of events that --dry-run counted', '--live');
}
