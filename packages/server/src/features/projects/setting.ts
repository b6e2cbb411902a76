export type Setting<T> = {
  fallback: string;
  syntax: string;
  /** Undefined for what is not in this syntax. */
  parse(text: string): T | undefined;
  print(value: T): string;
};

/** With the value's type closed in, so that settings of all types lie in one catalogue. */
export function define<T>(setting: Setting<T>): Setting<T> & { normalise(text: string): string | undefined } {
  return {
    ...setting,
    normalise(text) {
      const value = setting.parse(text);
      return value === undefined ? undefined : setting.print(value);
    },
  };
}
