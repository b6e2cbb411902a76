import type { Tx } from '../../platform/db/statements.ts';
import { type Current, listCurrent, newest, seen, sentenceFor } from './current-versions.ts';

export type ListedAudience = {
  id: string;
  name: string;
  state: 'building' | 'ready' | 'rebuilding';
  /** Members of the definition served, or as many as are found so far for the first one. */
  members: number;
  /** Progress of the definition being built. */
  progress: { built: number; users: number } | null;
  /** The latest definition in words. */
  sentence: string;
  createdAt: Date;
  updatedAt: Date;
};

/** Lists the audiences of a project by name. */
export async function listAudiences(tx: Tx, projectId: number): Promise<ListedAudience[]> {
  const audiences = await listCurrent(tx, projectId);
  return audiences.map((audience) => toListed(audience, audiences));
}

export function toListed(audience: Current, all: Current[]): ListedAudience {
  const { id, name, createdAt, updatedAt, building } = audience;
  return {
    id,
    name,
    state: stateOf(audience),
    members: seen(audience).members,
    // New users may have arrived since the count.
    progress: building && { built: building.built, users: Math.max(building.people, building.built) },
    sentence: sentenceFor(newest(audience).predicate, all),
    createdAt,
    updatedAt,
  };
}

function stateOf({ served, building }: Current): ListedAudience['state'] {
  if (!building) return 'ready';
  return served ? 'rebuilding' : 'building';
}
