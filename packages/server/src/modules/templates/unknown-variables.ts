import type { EmailCheck, TemplateVariable } from '@beckon/contract/dashboard';

/** A user variable that no user has a value for, with the most similar one that users do have. */
type Unknown = { name: string; similar: string | null };

/** At most this many characters differ between a name and a typo of it. */
const TYPO_MAX = 2;

/** A sample user has a value for every variable, so a typo shows in no preview. This check names it. */
export function variablesCheck(
  variables: Pick<TemplateVariable, 'name' | 'share'>[],
  known: { people: number; names: string[] },
): EmailCheck[] {
  const unknown = known.people === 0 ? [] : unknownOf(variables, known.names);
  if (unknown.length === 0) return [];
  const detail = unknown.map(({ name, similar }) =>
    similar === null ? name : `${name}: did you mean ${similar}?`,
  );
  const checked =
    known.people === 1
      ? 'The one user that was checked has no value'
      : `None of the ${known.people} users that were checked has a value`;
  const message = `${checked} for these variables. Drafts without a default are held.`;
  return [{ name: 'variables', status: 'warning', message, detail }];
}

function unknownOf(variables: Pick<TemplateVariable, 'name' | 'share'>[], names: string[]): Unknown[] {
  const candidates = [...names, ...variables.flatMap(({ name, share }) => (share ? [name] : []))];
  return variables
    .filter(({ share }) => share === 0)
    .map(({ name }) => ({ name, similar: mostSimilar(name, candidates) }));
}

function mostSimilar(name: string, candidates: string[]): string | null {
  const [best] = candidates
    .map((candidate) => ({ candidate, distance: editDistance(name, candidate) }))
    .filter(({ distance }) => distance > 0 && distance <= TYPO_MAX)
    .toSorted((a, b) => a.distance - b.distance);
  return best?.candidate ?? null;
}

/** The number of characters to insert, delete or replace (Levenshtein). */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
