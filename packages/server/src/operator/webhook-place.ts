import { type EndpointPlace, requireEndpoint } from '../features/endpoints/index.ts';
import { findProject } from '../features/projects/index.ts';
import type { Opened } from './operator.ts';

export const ENDPOINT_OPTION = ['--endpoint <endpoint>', 'its id, as webhook list shows it'] as const;

/** Of an endpoint that is there. */
export async function placeOf(
  { db }: Pick<Opened, 'db'>,
  { project, endpoint }: { project: string; endpoint: string },
): Promise<EndpointPlace> {
  const { id: projectId } = await findProject(db, project);
  const place = { projectId, endpointId: endpoint };
  await db.transaction((tx) => requireEndpoint(tx, place));
  return place;
}
