import type { Tx } from '../../../platform/db/statements.ts';
import { invalid, type Project, toProject, unknownProject } from './project.ts';
import { findProjectById, listProjectsByName } from './store.ts';

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
