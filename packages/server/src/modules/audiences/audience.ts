import { listAudienceRows } from './reads.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { Fault, type FieldFault } from '../../platform/fault.ts';
import { parsePredicate } from '../../platform/predicate/parse.ts';
import type { Predicate } from '../../platform/predicate/predicate.ts';

export type Audience = { id: string; name: string; createdAt: Date; updatedAt: Date };

/** Finds an audience by its id or its name. Names are unique in a project. */
export async function findAudience(
  tx: Tx,
  { projectId, reference }: { projectId: number; reference: string },
): Promise<Audience> {
  // PostgreSQL cannot store a NUL character, so no name contains one.
  if (reference.includes('\0')) throw unknownAudience(reference);
  const id = isId(reference) ? reference : null;
  const [row] = await listAudienceRows(tx, { projectId, id, name: reference.trim() });
  if (!row) throw unknownAudience(reference);
  return { id: row.id, name: row.name, createdAt: row.created_at, updatedAt: row.updated_at };
}

export const AUDIENCES_MAX = 500;
const DEFINITION_MAX_BYTES = 64 * 1024;
const NAME_MAX_CHARS = 100;
const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function isId(reference: string): boolean {
  return ID.test(reference);
}

/** Returns the name without surrounding spaces. Rejects a name that looks like an id, because an audience can be referenced by either. */
export function readName(text: string): string {
  const name = text.trim();
  if (name.length < 1 || name.length > NAME_MAX_CHARS || !name.isWellFormed() || /\p{Cc}/u.test(name))
    throw invalid(`name must have 1 to ${NAME_MAX_CHARS} characters, without control characters`, 'name');
  if (isId(name)) throw invalid('name must not look like an id', 'name');
  return name;
}

/** Parses a definition from a request. Every error has the path of its place, and its message begins with that path. */
export function readDefinition(definition: unknown): Predicate {
  if (definition === undefined) throw invalid('definition is required', 'definition');
  const bytes = Buffer.byteLength(JSON.stringify(definition) ?? '');
  if (bytes > DEFINITION_MAX_BYTES)
    throw invalid(`definition must not have more than ${DEFINITION_MAX_BYTES / 1024} KiB`, 'definition');
  const parsed = parsePredicate(definition);
  if (parsed.ok) return parsed.predicate;
  throw new Fault('validation_failed', { details: parsed.faults.map(underDefinition) });
}

function underDefinition({ message, field }: FieldFault): FieldFault {
  if (field === undefined || field === '')
    return { message: message.replace(/^The definition/, 'definition'), field: 'definition' };
  return { message: `definition.${message}`, field: `definition.${field}` };
}

export function invalid(message: string, field?: string): Fault {
  return new Fault('validation_failed', {
    details: [field === undefined ? { message } : { message, field }],
  });
}

export function unknownAudience(reference: string): Fault {
  const message = `No audience has the ID or name ${JSON.stringify(reference)}. List the audiences with: beckon audiences list`;
  return new Fault('not_found', { details: [{ message, field: 'audience' }] });
}
