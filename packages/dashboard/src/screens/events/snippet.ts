import type { EventDetails } from '@beckon/contract/dashboard';
import { SAMPLE_USER } from '../../parts/sample-calls.ts';

type EventShape = Pick<EventDetails, 'name' | 'properties' | 'examples'>;

/** A call of the client, with the property types that were sent. */
export function typedOf({ name, properties, examples }: EventShape): string {
  const lines = properties.map(({ property, types }) => {
    const [value] = valuesOf(examples, property);
    return `    ${keyOf(property)}: ${JSON.stringify(value ?? sampleOf(types))}, // ${types.map(typeWord).join(' | ')}`;
  });
  const inside = lines.length === 0 ? '{}' : `{\n${lines.join('\n')}\n  }`;
  return `await beckon.track({\n  external_user_id: user.id,\n  name: ${JSON.stringify(name)},\n  properties: ${inside},\n});`;
}

/** The body of the same call for curl. */
export function bodyOf({ name, properties, examples }: EventShape): object {
  const entries = properties.map(({ property, types }) => {
    const [value] = valuesOf(examples, property);
    return [property, value ?? sampleOf(types)];
  });
  return { external_user_id: SAMPLE_USER, name, properties: Object.fromEntries(entries) };
}

function valuesOf(examples: EventShape['examples'], property: string): unknown[] {
  return examples.find((example) => example.property === property)?.values ?? [];
}

function keyOf(property: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(property) ? property : JSON.stringify(property);
}

function typeWord(type: string): string {
  if (type === 'array') return 'unknown[]';
  return type === 'object' ? 'Record<string, unknown>' : type;
}

function sampleOf(types: string[]): unknown {
  const [type] = types.filter((name) => name !== 'null');
  const samples: Record<string, unknown> = {
    number: 1,
    boolean: true,
    array: [],
    object: {},
    string: 'text',
  };
  return type === undefined ? null : (samples[type] ?? null);
}
