import type { EventDetails } from '@beckon/contract/dashboard';
import { SAMPLE_USER } from '../../parts/sample-calls.ts';

type EventShape = Pick<EventDetails, 'name' | 'properties' | 'examples'>;

/** The body of a call that sends this event, with received values. */
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
