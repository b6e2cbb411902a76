/** Maps the columns of a file to fields. The server and the command line use the same rules. */

export type FileKind = 'users' | 'events';
export type FieldName = 'external_user_id' | 'email' | 'name' | 'occurred_at' | 'message_id';

/** `free`: one entry of the free form; `whole`: an object whose entries all become entries of the free form; `none`: not imported. */
export type Target =
  | { part: 'field'; name: FieldName }
  | { part: 'free'; name: string }
  | { part: 'whole' }
  | { part: 'none' };

/** The prefix of the columns that report on rejected rows of an earlier import. They are not part of the record. */
export const REPORT_PREFIX = 'beckon_';

export const FREE_FORM = { users: 'traits', events: 'properties' } as const;

/**
 * Returns the target of every column, in the order of `names`:
 *
 * 1. the target in `mapping`
 * 2. the field of the API with exactly this name
 * 3. the field that has this header among its usual names; the best header wins, and the first of equal ones
 * 4. a free-form entry under the column's own name, unless that is taken
 */
export function targetsOf(
  kind: FileKind,
  names: readonly string[],
  mapping: ReadonlyMap<string, Target> = new Map(),
): Target[] {
  const claims = new Claims(kind);
  for (const name of names) claims.set(name, mapping.get(name) ?? reportTarget(name));
  for (const name of claims.open(names))
    if (isWrittenOut(kind, name)) claims.take(name, targetOf(kind, name));
  const nameByHeader = indexByHeader(claims.open(names));
  for (const [target, headers] of TARGET_HEADERS[kind]) {
    const header = headers.find((candidate) => nameByHeader.has(candidate));
    if (header !== undefined) claims.take(nameByHeader.get(header) ?? '', target);
  }
  for (const name of claims.open(names)) claims.take(name, freeTarget(kind, name));
  return names.map((name) => claims.found.get(name) ?? { part: 'none' });
}

class Claims {
  readonly found = new Map<string, Target>();
  private readonly usedTargets = new Set<string | null>();
  private readonly kind: FileKind;

  constructor(kind: FileKind) {
    this.kind = kind;
  }

  open(names: readonly string[]): string[] {
    return names.filter((name) => !this.found.has(name));
  }

  /** Sets a target without checking that it is free. */
  set(name: string, target: Target | undefined): void {
    if (target === undefined) return;
    this.found.set(name, target);
    if (target.part !== 'none') this.usedTargets.add(formatTarget(this.kind, target));
  }

  take(name: string, target: Target): void {
    if (!this.usedTargets.has(formatTarget(this.kind, target))) this.set(name, target);
  }
}

/** Reads a target as a mapping names it: `email`, `traits.plan` or just `plan`, or `traits` for an object of traits. */
export function targetOf(kind: FileKind, text: string): Target {
  if (isField(kind, text)) return { part: 'field', name: text };
  return text === FREE_FORM[kind] ? { part: 'whole' } : freeTarget(kind, text);
}

export function formatTarget(kind: FileKind, target: Target): string | null {
  switch (target.part) {
    case 'field':
      return target.name;
    case 'free':
      return `${FREE_FORM[kind]}.${target.name}`;
    case 'whole':
      return FREE_FORM[kind];
    case 'none':
      return null;
  }
}

const NAME_MAX_CHARS = 255;

/** Returns the column name for a cell of the header. */
export function columnName(cell: string, at: number): string {
  const name = cell.trim().replaceAll('\0', '').slice(0, NAME_MAX_CHARS);
  return name === '' ? `column ${at + 1}` : name;
}

const REPORT_COLUMNS: ReadonlySet<string> = new Set(
  ['line', 'field', 'message', 'row'].map((name) => `${REPORT_PREFIX}${name}`),
);

function reportTarget(name: string): Target | undefined {
  return REPORT_COLUMNS.has(name) ? { part: 'none' } : undefined;
}

/** The fields of a record outside of its free form, each with its usual names in files, best first. */
const FIELDS: Record<FileKind, Partial<Record<FieldName, readonly string[]>>> = {
  users: {
    external_user_id: ['externaluserid', 'userid', 'externalid', 'id', 'uid', 'customerid', 'user'],
    email: ['email', 'emailaddress', 'mail'],
  },
  events: {
    external_user_id: ['externaluserid', 'userid', 'externalid', 'uid', 'customerid', 'distinctid', 'user'],
    name: ['event', 'eventname', 'name'],
    occurred_at: ['occurredat', 'timestamp', 'time', 'eventtime', 'date', 'createdat'],
    message_id: ['messageid', 'eventid', 'insertid', 'id', 'uuid'],
  },
};

/** Traits with a meaning for Beckon, each with its usual names in files. */
const KNOWN_TRAITS: Record<string, readonly string[]> = {
  name: ['name', 'fullname'],
  plan: ['plan', 'planname'],
  signupDate: ['signupdate', 'signedupat', 'createdat'],
  company: ['company', 'companyname', 'organisation', 'organization'],
  role: ['role'],
};

type TargetHeaders = [Target, readonly string[]];
const TARGET_HEADERS: Record<FileKind, TargetHeaders[]> = {
  users: [
    ...fieldsOf('users'),
    ...Object.entries(KNOWN_TRAITS).map(([name, names]): TargetHeaders => [{ part: 'free', name }, names]),
  ],
  events: fieldsOf('events'),
};

function fieldsOf(kind: FileKind): TargetHeaders[] {
  return Object.entries(FIELDS[kind]).map(([name, names]) => [
    { part: 'field', name: name as FieldName },
    names,
  ]);
}

function isField(kind: FileKind, name: string): name is FieldName {
  return Object.hasOwn(FIELDS[kind], name);
}

function isWrittenOut(kind: FileKind, name: string): boolean {
  const freeForm = FREE_FORM[kind];
  if (isField(kind, name) || name === freeForm || name.startsWith(`${freeForm}.`)) return true;
  return kind === 'users' && Object.hasOwn(KNOWN_TRAITS, name);
}

function freeTarget(kind: FileKind, name: string): Target {
  const prefix = `${FREE_FORM[kind]}.`;
  return { part: 'free', name: name.startsWith(prefix) ? name.slice(prefix.length) : name };
}

/** Ignores case and punctuation; the first of equal names counts. */
function indexByHeader(names: readonly string[]): Map<string, string> {
  const nameByHeader = new Map<string, string>();
  for (const name of names) {
    const bare = name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
    if (!nameByHeader.has(bare)) nameByHeader.set(bare, name);
  }
  return nameByHeader;
}
