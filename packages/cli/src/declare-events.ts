import { CANONICAL_EVENTS } from '@beckon/contract';
import type { EventListed } from '@beckon/contract/dashboard';

export const WRITTEN_BY = '// Written by `beckon types pull`.';

type Known = Pick<EventListed, 'name' | 'properties'>;

/**
 * A declaration that adds a project's own events to those that the client knows. The canonical ten have their types already. Names
 * are what somebody once sent: they only ever stand in quotes.
 */
export function declareEvents(listed: readonly Known[]): { text: string; events: number } {
  const own = listed
    .filter(({ name }) => !Object.hasOwn(CANONICAL_EVENTS, name))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const members = own.flatMap(({ name, properties }) => [
    `    ${quoted(name)}: {`,
    ...properties.map(({ property, types }) => `      ${quoted(property)}?: ${typeOf(types)};`),
    '    };',
  ]);
  const text = [
    `${WRITTEN_BY} Properties may be absent: nobody can know from what came so far that one always will be there.`,
    "import type { JsonObject, JsonValue } from '@beckon/client';",
    '',
    "declare module '@beckon/client' {",
    '  interface EventTypes {',
    ...members,
    '  }',
    '}',
    '',
  ].join('\n');
  return { text, events: own.length };
}

const TYPES: Record<string, string> = {
  string: 'string',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
  array: 'JsonValue[]',
  object: 'JsonObject',
};

function typeOf(types: readonly string[]): string {
  const known = types.map((type) => TYPES[type] ?? 'JsonValue');
  return known.length === 0 ? 'JsonValue' : [...new Set(known)].toSorted().join(' | ');
}

/** JSON is a literal of TypeScript, too, once nothing in it ends a line or hides. */
function quoted(text: string): string {
  return JSON.stringify(text).replaceAll(
    /[^\x20-\x7E]/g,
    (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
