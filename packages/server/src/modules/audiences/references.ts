import { invalid } from './audience.ts';
import { type CurrentAudience, listCurrent, referencesOf } from './current-versions.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { mentionsOf } from '../../platform/predicate/mentions.ts';
import type { Predicate } from '../../platform/predicate/predicate.ts';

/**
 * Checks that every referenced audience exists and does not lead back to the audience being defined. The id is null for a new audience, to
 * which nothing can refer yet. Versions being built count like served ones, because they will replace them.
 */
export function checkReferences(
  audiences: CurrentAudience[],
  audienceId: string | null,
  predicate: Predicate,
): void {
  const byId = new Map(audiences.map((audience) => [audience.id, audience]));
  for (const id of mentionsOf(predicate).audiences) {
    const audience = byId.get(id);
    if (!audience)
      throw invalid(
        `definition refers to an audience that is not there: ${JSON.stringify(id)}`,
        'definition',
      );
    const circle = audienceId === null ? null : findPath(byId, audience, audienceId);
    if (circle) throw invalid(describe(circle), 'definition');
  }
}

/** Returns the chain of references from one audience to another, or null without one. */
function findPath(
  byId: Map<string, CurrentAudience>,
  from: CurrentAudience,
  to: string,
): CurrentAudience[] | null {
  const visited = new Set<string>();
  function visit(audience: CurrentAudience): CurrentAudience[] | null {
    if (audience.id === to) return [audience];
    if (visited.has(audience.id)) return null;
    visited.add(audience.id);
    for (const id of referencesOf(audience)) {
      const next = byId.get(id);
      const path = next ? visit(next) : null;
      if (path) return [audience, ...path];
    }
    return null;
  }
  return visit(from);
}

function describe(circle: CurrentAudience[]): string {
  if (circle.length === 1) return 'definition must not refer to the audience itself';
  const path = circle.map(({ name }) => JSON.stringify(name)).join(', which refers to ');
  return `definition would refer to itself: it refers to ${path}`;
}

/** Lists the audiences with a definition, served or being built, that names this one. */
export async function listReferrers(
  tx: Tx,
  projectId: number,
  audienceId: string,
): Promise<{ id: string; name: string }[]> {
  const audiences = await listCurrent(tx, projectId);
  return audiences
    .filter((audience) => referencesOf(audience).has(audienceId))
    .map(({ id, name }) => ({ id, name }));
}

/** Lists other audiences with a version being built that depends on one of these, directly or through other versions being built. */
export async function listBuiltOn(tx: Tx, projectId: number, audienceIds: string[]): Promise<string[]> {
  const audiences = await listCurrent(tx, projectId);
  const found = new Set(audienceIds);
  for (const audienceId of found)
    for (const { id, building } of audiences)
      if (building && mentionsOf(building.predicate).audiences.has(audienceId)) found.add(id);
  return [...found].filter((id) => !audienceIds.includes(id));
}
