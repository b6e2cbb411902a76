import type { ImportMapping, ImportType } from '@beckon/contract/dashboard';

/** Where a column goes: a field of the record, a key of its traits or properties, all of these at once, or nowhere. */
export type Target =
  | { kind: 'field'; field: Field }
  | { kind: 'key'; key: string }
  | { kind: 'all' }
  | { kind: 'none' };
export type Field = 'external_user_id' | 'email' | 'name' | 'occurred_at' | 'message_id';
export type FileKind = 'users' | 'events';
export type Column = { target: Target; type: ImportType };

/** The fields that a record of this kind has, and by which headers they are known: capitals and signs between words do not matter. */
const HEADERS: Record<FileKind, Partial<Record<Field, string[]>>> = {
  users: {
    external_user_id: ['externaluserid', 'userid', 'externalid', 'uid', 'id'],
    email: ['email', 'emailaddress', 'mail'],
  },
  events: {
    external_user_id: ['externaluserid', 'userid', 'externalid', 'uid'],
    name: ['event', 'eventname', 'name'],
    occurred_at: ['occurredat', 'timestamp', 'time', 'eventtime'],
    message_id: ['messageid', 'eventid'],
  },
};

/** Known traits under the names that spreadsheets give them. */
const KNOWN_TRAITS = new Map([
  ['name', 'name'],
  ['plan', 'plan'],
  ['signupdate', 'signupDate'],
  ['company', 'company'],
  ['role', 'role'],
]);
const BAG = { users: 'traits', events: 'properties' } as const;

/** As the mapping says, and by its header where it says nothing. */
export function columnOf(kind: FileKind, name: string, mapping: ImportMapping | null): Column {
  const said = mapping && Object.hasOwn(mapping.columns, name) ? mapping.columns[name] : undefined;
  if (!said) return { target: defaultTarget(kind, name), type: 'auto' };
  return {
    target: said.to === null ? { kind: 'none' } : targetOf(kind, said.to),
    type: said.type ?? 'auto',
  };
}

/** `traits.plan`, `email`; anything else is a key of its own. */
function targetOf(kind: FileKind, to: string): Target {
  if (Object.hasOwn(HEADERS[kind], to)) return { kind: 'field', field: to as Field };
  const bag = BAG[kind];
  if (to === bag) return { kind: 'all' };
  return { kind: 'key', key: to.startsWith(`${bag}.`) ? to.slice(bag.length + 1) : to };
}

export function printTarget(kind: FileKind, target: Target): string | null {
  switch (target.kind) {
    case 'field':
      return target.field;
    case 'key':
      return `${BAG[kind]}.${target.key}`;
    case 'all':
      return BAG[kind];
    case 'none':
      return null;
  }
}

function defaultTarget(kind: FileKind, name: string): Target {
  const plain = name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  for (const [field, headers] of Object.entries(HEADERS[kind]))
    if (headers.includes(plain)) return { kind: 'field', field: field as Field };
  const target = targetOf(kind, name);
  const trait = kind === 'users' && target.kind === 'key' ? KNOWN_TRAITS.get(plain) : undefined;
  return trait === undefined ? target : { kind: 'key', key: trait };
}

/** Columns of a CSV file in their order; of two that would become one field by their headers alone, the first does. */
export function columnsOf(kind: FileKind, names: string[], mapping: ImportMapping | null): Column[] {
  const taken = new Set<string>();
  for (const name of names)
    if (mapping && Object.hasOwn(mapping.columns, name)) {
      const { target } = columnOf(kind, name, mapping);
      if (target.kind === 'field') taken.add(target.field);
    }
  return names.map((name) => {
    const column = columnOf(kind, name, mapping);
    const isSaid = mapping !== null && Object.hasOwn(mapping.columns, name);
    if (isSaid || column.target.kind !== 'field') return column;
    if (!taken.has(column.target.field)) {
      taken.add(column.target.field);
      return column;
    }
    return { ...column, target: { kind: 'key', key: name } };
  });
}

export type Problem = { field: string; message: string };

/** What is wrong with the mapping as a whole; nothing can be told of JSONL, whose rows have columns of their own. */
export function problemsOf(kind: FileKind, columns: Column[], mapping: ImportMapping | null): Problem[] {
  const targets = columns.map(({ target }) => target);
  const has = (field: Field): boolean => targets.some((one) => one.kind === 'field' && one.field === field);
  const problems: Problem[] = [];
  const need = (isThere: boolean, field: string, message: string): void => {
    if (!isThere) problems.push({ field, message });
  };
  need(has('external_user_id'), 'external_user_id', 'Say which column holds the id of the user');
  if (kind === 'events') {
    need(
      has('name') || namesAll(mapping),
      'name',
      'Say which column holds the name of the event, or name it',
    );
    const isTold = has('occurred_at') || has('message_id') || mapping?.equal_rows_are_one === true;
    need(isTold, 'occurred_at', NEITHER_TIME_NOR_ID);
  }
  const fields = targets.flatMap((one) => (one.kind === 'field' ? [one.field] : []));
  for (const field of new Set(fields.filter((one, i) => fields.indexOf(one) !== i)))
    problems.push({ field, message: `Two columns go to ${field}` });
  return problems;
}

const NEITHER_TIME_NOR_ID =
  'Say which column holds the time or an id of the event, or that equal rows are one event';

function namesAll(mapping: ImportMapping | null): boolean {
  return (mapping?.event_name ?? '') !== '';
}
