import type { FieldError, RelayAdapter, RelaySettings } from './adapter.ts';

const VALUE_CHARS_MAX = 4_096;

/** Returns the settings of a relay without surrounding space, or which fields are wrong. Names that no field has are errors. */
export function readSettings(
  adapter: Pick<RelayAdapter, 'fields' | 'checkSettings'>,
  input: Readonly<Record<string, string>>,
): { ok: true; settings: RelaySettings } | { ok: false; errors: FieldError[] } {
  const errors = unknownFields(adapter, Object.keys(input));
  const settings: Record<string, string> = {};
  for (const { name, label, values, isOptional } of adapter.fields) {
    const value = input[name]?.trim() || (values?.[0] ?? '');
    const message = valueError(value, { label, values, isOptional });
    if (message !== null) errors.push({ field: name, message });
    else if (value !== '') settings[name] = value;
  }
  if (errors.length === 0) errors.push(...(adapter.checkSettings?.(settings) ?? []));
  return errors.length === 0 ? { ok: true, settings } : { ok: false, errors };
}

function unknownFields({ fields }: Pick<RelayAdapter, 'fields'>, given: string[]): FieldError[] {
  const names = fields.map(({ name }) => name);
  return given
    .filter((field) => !names.includes(field))
    .map((field) => ({ field, message: `Unknown field. Use ${names.join(', ')}.` }));
}

type Rules = { label: string; values: readonly string[] | undefined; isOptional: true | undefined };

function valueError(value: string, { label, values, isOptional }: Rules): string | null {
  if (value === '') return isOptional ? null : `${label} is required.`;
  if (value.length > VALUE_CHARS_MAX) return `${label} can have at most ${VALUE_CHARS_MAX} characters.`;
  // A header of a request would contain it.
  if (/\p{Cc}/u.test(value.replaceAll(/\r?\n/g, ''))) return `${label} contains a control character.`;
  if (values && !values.includes(value)) return `${label} must be one of ${values.join(', ')}.`;
  return null;
}
