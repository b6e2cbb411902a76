/**
 * Reads the search parameters of a page. `searchOf({ filter: text, tab: oneOf('preview', 'edit'), only: flag })` makes the validator of a
 * route: missing and invalid values are omitted, so that an old or broken link still opens the page.
 */

export type Reader<T> = (value: unknown) => T | undefined;
export type Shape = Record<string, Reader<unknown>>;
export type SearchOf<S extends Shape> = { [N in keyof S]?: NonNullable<ReturnType<S[N]>> | undefined };

export function searchOf<S extends Shape>(shape: S): (params: Record<string, unknown>) => SearchOf<S> {
  return (params) =>
    Object.fromEntries(
      Object.entries(shape).flatMap(([name, read]) => {
        const value = read(params[name]);
        return value === undefined ? [] : [[name, value]];
      }),
    ) as SearchOf<S>;
}

const TEXT_MAX = 2_000;

/** The router parses `42` as a number and `true` as a boolean; here they are text. */
export const text: Reader<string> = (value) => {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' && value !== '' && value.length <= TEXT_MAX ? value : undefined;
};

export const whole: Reader<number> = (value) =>
  Number.isSafeInteger(Number(value)) && value !== '' && value !== null && typeof value !== 'boolean'
    ? Number(value)
    : undefined;

export const flag: Reader<boolean> = (value) =>
  value === true || value === 'true' ? true : value === false || value === 'false' ? false : undefined;

export function oneOf<const T extends string>(...values: T[]): Reader<T> {
  return (value) => values.find((option) => option === value);
}
