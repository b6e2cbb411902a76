import { usage } from '../failure.ts';

export type Taken = {
  type: 'string' | 'integer';
  about: string;
  isRequired?: true;
  least?: number;
  most: number;
};
export type Takes = Record<string, Taken>;
export type Given = {
  text(field: string): string;
  textOr<T>(field: string, otherwise: T): string | T;
  whole(field: string, otherwise: number): number;
};

/** Held to what the tool takes; what is not named there is refused, so that no wish is passed over in silence. */
export function readArguments(takes: Takes, given: Record<string, unknown>): Given {
  for (const name of Object.keys(given))
    if (!Object.hasOwn(takes, name)) throw usage(`${name} is nothing that this tool takes`, name);
  for (const [name, taken] of Object.entries(takes)) check(name, taken, given[name]);
  const text = (field: string): string => (typeof given[field] === 'string' ? given[field] : '');
  return {
    text,
    textOr: (field, otherwise) => (given[field] === undefined ? otherwise : text(field)),
    whole: (field, otherwise) => Number(given[field] ?? otherwise),
  };
}

function check(name: string, { type, isRequired, least = 1, most }: Taken, value: unknown): void {
  if (value === undefined) {
    if (isRequired) throw usage(`${name} is required`, name);
    return;
  }
  if (type === 'string') {
    if (typeof value !== 'string' || value === '' || value.length > most)
      throw usage(`${name} must be a text of 1 to ${most} characters`, name);
    return;
  }
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most)
    throw usage(`${name} must be a whole number from ${least} to ${most}`, name);
}
