import type { TokenState } from '@beckon/contract/dashboard';
import { Failure, usage } from '../failure.ts';
import type { Dashboard } from './dashboard.ts';

export type Project = { id: string; name: string | null };

/** The project that is meant: by its id, by its name, or the only one that the token opens. */
export async function findProject(dashboard: Dashboard, named: string | null): Promise<Project> {
  if (named !== null && /^[1-9]\d{0,14}$/.test(named)) return { id: named, name: null };
  const { data } = await dashboard.call('GET /token', {});
  return choose(data, named);
}

function choose({ projects }: Pick<TokenState, 'projects'>, named: string | null): Project {
  const fitting = named === null ? projects : projects.filter(({ name }) => name === named);
  const [only, ...others] = fitting;
  if (only && others.length === 0) return { id: String(only.id), name: only.name };
  if (projects.length === 0)
    throw new Failure('not_found', 'The token opens no project: ask for a role in one');
  const list = projects.map(({ id, name }) => `  ${id}  ${name}`).join('\n');
  if (named === null) throw usage(`Say which project with --project or BECKON_PROJECT:\n${list}`, 'project');
  const why = only ? `There are several projects of the name ${named}` : `There is no project ${named}`;
  throw usage(`${why}; these are open to you:\n${list}`, 'project');
}
