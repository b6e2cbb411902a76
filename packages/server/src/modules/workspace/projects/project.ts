import { Fault } from '../../../platform/fault.ts';
import type { ProjectRow } from './store.ts';

export type Project = {
  id: number;
  name: string;
  livemode: boolean;
  suspendedAt: Date | null;
  createdAt: Date;
};

export function toProject(row: ProjectRow): Project {
  return {
    id: row.project_id,
    name: row.name,
    livemode: row.livemode,
    suspendedAt: row.suspended_at,
    createdAt: row.created_at,
  };
}

const NAME_MAX_CHARS = 100;

/** Rejects a name of digits only, because a project can be referenced by name or id. */
export function checkName(name: string): void {
  if (name.length < 1 || name.length > NAME_MAX_CHARS || !name.isWellFormed() || /\p{Cc}/u.test(name))
    throw invalid(`name must have 1 to ${NAME_MAX_CHARS} characters, without control characters`, 'name');
  if (name.trim() !== name) throw invalid('name must not begin or end with a space', 'name');
  if (/^\d+$/.test(name))
    throw invalid('name must not consist of digits only: it would look like an id', 'name');
}

export function invalid(message: string, field?: string): Fault {
  return new Fault('validation_failed', {
    details: [field === undefined ? { message } : { message, field }],
  });
}

export function unknownProject(reference: string | number): Fault {
  const message = `No project has the ID or name ${JSON.stringify(String(reference))}. List the projects with: beckon projects list`;
  return new Fault('not_found', { details: [{ message, field: 'project' }] });
}
