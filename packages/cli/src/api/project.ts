import type { ProjectListed, TokenState } from '@beckon/contract/dashboard';
import { Failure, usage } from '../failure.ts';
import type { Connection } from '../profiles/connection.ts';
import type { Api } from './dashboard.ts';

export type Project = { id: string; name: string | null };

/** Finds the project by id or name, or takes the only one that is visible. */
export async function findProject(
  api: ProjectsApi,
  { project: named, kind }: Pick<Connection, 'project' | 'kind'>,
): Promise<Project> {
  if (named !== null && /^[1-9]\d{0,14}$/.test(named)) return { id: named, name: null };
  return chooseProject(await visibleProjects(api, kind), named);
}

type ProjectsApi = Api<'GET /token' | 'GET /projects'>;
type Visible = (TokenState['projects'][number] | ProjectListed)[];

/** Every token may read its own details, whatever its scopes. The local socket has no token. */
export async function visibleProjects(api: ProjectsApi, kind: Connection['kind']): Promise<Visible> {
  if (kind === 'local') return (await api.call('GET /projects', {})).data;
  return (await api.call('GET /token', {})).data.projects;
}

export function chooseProject(projects: Visible, named: string | null): Project {
  const byId = projects.filter(({ id }) => String(id) === named);
  const byName = projects.filter(({ name }) => named === null || name === named);
  const [only, ...others] = byId.length > 0 ? byId : byName;
  if (only && others.length === 0) return { id: String(only.id), name: only.name };
  if (projects.length === 0)
    throw new Failure('not_found', 'No project is visible. Ask an admin for a role in one, or create one.');
  const names = projects.map(({ id, name }) => `  ${id}  ${name}`).join('\n');
  if (named === null)
    throw usage(`Choose a project with --project or: beckon use <project>\n${names}`, 'project');
  const why = only ? `Several projects are named ${named}` : `Unknown project ${named}`;
  throw usage(`${why}. Choose one by id:\n${names}`, 'project');
}
