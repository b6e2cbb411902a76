import type { Tx } from '../../io/db/index.ts';
import { type Current, listCurrent, newest, seen, sentenceFor } from './current.ts';

export type ListedAudience = {
  id: string;
  name: string;
  state: 'building' | 'ready' | 'rebuilding';
  /** Of the definition served, or as many as are found of the first one. */
  members: number;
  /** How far the definition being built has come. */
  progress: { built: number; users: number } | null;
  /** The definition asked for last, in words. */
  sentence: string;
  createdAt: Date;
  updatedAt: Date;
};

/** By name. */
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
    // People may have come since they were counted.
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
