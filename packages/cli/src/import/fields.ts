import type { ImportKind } from './options.ts';

export type FieldName = 'external_user_id' | 'email' | 'name' | 'occurred_at' | 'message_id';

/** The fields of a record that are no part of its free form, each with the names under which files have it, best first. */
const FIELDS: Record<ImportKind, Partial<Record<FieldName, readonly string[]>>> = {
  users: {
    external_user_id: ['externaluserid', 'userid', 'id', 'uid', 'customerid', 'user'],
    email: ['email', 'emailaddress', 'mail'],
  },
  events: {
    external_user_id: ['externaluserid', 'userid', 'uid', 'customerid', 'distinctid', 'user'],
    name: ['event', 'eventname', 'name'],
    occurred_at: ['occurredat', 'timestamp', 'time', 'date', 'eventtime', 'createdat'],
    message_id: ['messageid', 'eventid', 'insertid', 'id', 'uuid'],
  },
};

/** Traits that mean something to Beckon, under the names that files have for them. */
const KNOWN_TRAITS: Record<string, readonly string[]> = {
  name: ['name', 'fullname'],
  plan: ['plan', 'planname'],
  signupDate: ['signupdate', 'signedupat', 'createdat'],
  company: ['company', 'companyname', 'organisation', 'organization'],
  role: ['role'],
};
/** As the server wants them, whatever they look like. */
export const TEXT_TRAITS: ReadonlySet<string> = new Set(['name', 'plan', 'company', 'role']);

export const FREE_FORM = { users: 'traits', events: 'properties' } as const;

/** `free`: one entry of the free form; `whole`: an object, all of whose entries go there. */
export type Target =
  | { part: 'field'; name: FieldName }
  | { part: 'free'; name: string }
  | { part: 'whole'; name: string };

function isField(kind: ImportKind, name: string): name is FieldName {
  return Object.hasOwn(FIELDS[kind], name);
}

/** As `--map` and `--types` name it: `email`, `traits.plan`, or `plan` for the same. */
export function targetOf(kind: ImportKind, field: string): Target {
  if (isField(kind, field)) return { part: 'field', name: field };
  const freeForm = FREE_FORM[kind];
  if (field === freeForm) return { part: 'whole', name: field };
  const prefix = `${freeForm}.`;
  return { part: 'free', name: field.startsWith(prefix) ? field.slice(prefix.length) : field };
}

export function sayTarget(kind: ImportKind, { part, name }: Target): string {
  return part === 'free' ? `${FREE_FORM[kind]}.${name}` : name;
}

/** What the columns of a file are taken for where nobody says otherwise. Every other one is free form, under its own name. */
export function guess(kind: ImportKind, columns: readonly string[]): Map<string, Target> {
  const found = new Map<string, Target>();
  const bare = new Map<string, string>();
  for (const column of columns) {
    const name = column.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
    if (!bare.has(name)) bare.set(name, column);
  }
  const claim = (names: readonly string[], target: Target): void => {
    const column = names.map((name) => bare.get(name)).find((each) => each !== undefined && !found.has(each));
    if (column !== undefined) found.set(column, target);
  };
  // What is written as the server writes it is meant so.
  for (const column of columns) {
    if (isField(kind, column)) found.set(column, { part: 'field', name: column });
    else if (column === FREE_FORM[kind] || column.startsWith(`${FREE_FORM[kind]}.`))
      found.set(column, targetOf(kind, column));
  }
  const taken = new Set([...found.values()].map(({ name }) => name));
  for (const [name, names] of Object.entries(FIELDS[kind]))
    if (!taken.has(name)) claim(names, { part: 'field', name: name as FieldName });
  if (kind === 'users')
    for (const [name, names] of Object.entries(KNOWN_TRAITS))
      if (!taken.has(name)) claim(names, { part: 'free', name });
  return found;
}
