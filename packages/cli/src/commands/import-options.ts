import type { CellType } from '@beckon/contract/files';
import { usage } from '../failure.ts';
import { many, oneOf, type Option } from '../framework/options.ts';

const TYPES = ['text', 'number', 'boolean', 'date', 'json'] as const satisfies CellType[];

/** How columns become fields. */
export const MAPPING_OPTIONS = {
  map: pairs(
    '--map <field=column>',
    'Column that a field is read from; repeat for each field',
    (column) => column,
  ),
  types: pairs(
    '--types <field=type>',
    `Type of a field: ${TYPES.join(', ')}; repeat for each field`,
    (type) => oneOf(type, TYPES, '--types'),
  ),
};

function pairs<T>(flags: string, help: string, readValue: (text: string) => T): Option<Map<string, T>> {
  const [name = ''] = flags.split(' ');
  return {
    ...many(flags, help),
    read(given: readonly string[] | undefined) {
      const found = new Map<string, T>();
      for (const pair of given ?? []) {
        const at = pair.indexOf('=');
        const field = pair.slice(0, at);
        if (at < 1 || at === pair.length - 1) throw usage(`${name} ${pair}: write field=value`, name);
        if (found.has(field)) throw usage(`${name} has two values for ${field}`, name);
        found.set(field, readValue(pair.slice(at + 1)));
      }
      return found;
    },
  };
}
