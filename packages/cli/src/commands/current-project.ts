import type { ProjectListed } from '@beckon/contract/dashboard';
import { Failure } from '../failure.ts';
import type { Context } from '../framework/context.ts';

/** The chosen project as `projects list` shows it, and its sandbox. */
export async function currentProject({
  api,
  project,
}: Context<'GET /projects'>): Promise<{ current: ProjectListed; sandbox: ProjectListed | undefined }> {
  const { id } = await project();
  const { data } = await api.call('GET /projects', {});
  const current = data.find((row) => String(row.id) === id);
  if (!current) throw new Failure('not_found', `Unknown project ${id}`);
  return { current, sandbox: data.find(({ sandbox_of }) => String(sandbox_of) === id) };
}
