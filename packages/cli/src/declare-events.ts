import { CANONICAL_EVENTS } from '@beckon/contract';
import type { EventListed } from '@beckon/contract/dashboard';

export const WRITTEN_BY = '// Written by `beckon types pull`.';

type EventShape = Pick<EventListed, 'name' | 'properties'>;

/**
 * Declares a project's own events for the types of the client, which already knows the canonical ones. Names come from
 * events that were sent, so they are only written as string literals.
 */
export function declareEvents(listed: readonly EventShape[]): { text: string; events: number } {
  const customEvents = listed
    .filter(({ name }) => !Object.hasOwn(CANONICAL_EVENTS, name))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const members = customEvents.flatMap(({ name, properties }) => [
    `    ${quoted(name)}: {`,
    ...properties.map(({ property, types }) => `      ${quoted(property)}?: ${typeOf(types)};`),
    '    };',
  ]);
  const text = [
    `${WRITTEN_BY} Every property is optional: past events do not prove that it is always sent.`,
    "import type { JsonObject, JsonValue } from '@beckon/client';",
    '',
    "declare module '@beckon/client' {",
    '  interface EventTypes {',
    ...members,
    '  }',
    '}',
    '',
  ].join('\n');
  return { text, events: customEvents.length };
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
  const tsTypes = types.map((type) => TYPES[type] ?? 'JsonValue');
  return tsTypes.length === 0 ? 'JsonValue' : [...new Set(tsTypes)].toSorted().join(' | ');
}

/** A JSON string is a TypeScript literal once line separators and control characters are escaped. */
function quoted(text: string): string {
  return JSON.stringify(text).replaceAll(
    /[^\x20-\x7E]/g,
    (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
