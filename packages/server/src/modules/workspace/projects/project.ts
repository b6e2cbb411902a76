import {
  findProjectById,
  listDemoRows,
  listProjectRows,
  listProjectsByName,
  type ProjectRow,
} from './reads.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { Fault } from '../../../platform/fault.ts';

/** Finds a project by id, or by its exact name if only one project has it. */
export async function findProject(tx: Tx, reference: string): Promise<Project> {
  const byId = /^[1-9]\d{0,14}$/.test(reference) ? await findProjectById(tx, Number(reference)) : undefined;
  if (byId) return toProject(byId);
  // PostgreSQL cannot store a NUL character, so no name contains one.
  const named = reference.includes('\0') ? [] : await listProjectsByName(tx, reference);
  const [only] = named;
  if (!only) throw unknownProject(reference);
  if (named.length === 1) return toProject(only);
  const ids = named.map((row) => row.project_id).join(', ');
  throw invalid(
    `Several projects are named ${JSON.stringify(reference)}. Use one of their IDs: ${ids}`,
    'project',
  );
}

export async function listProjects(tx: Tx): Promise<Project[]> {
  const rows = await listProjectRows(tx);
  return rows.map(toProject);
}

/** Lists demo projects, which send nothing to the outside. */
export async function listDemos(tx: Tx): Promise<Project[]> {
  const rows = await listDemoRows(tx);
  return rows.map(toProject);
}

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

export function invalid(message: string, field?: string): Fault {
  return new Fault('validation_failed', {
    details: [field === undefined ? { message } : { message, field }],
  });
}

export function unknownProject(reference: string | number): Fault {
  const message = `No project has the ID or name ${JSON.stringify(String(reference))}. List the projects with: beckon projects list`;
  return new Fault('not_found', { details: [{ message, field: 'project' }] });
}
