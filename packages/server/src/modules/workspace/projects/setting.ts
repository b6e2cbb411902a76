export type Setting<T> = {
  fallback: string;
  syntax: string;
  /** Returns undefined for text in another syntax. */
  parse(text: string): T | undefined;
  print(value: T): string;
};

/** Hides the type of the value, so that settings of all types fit into one catalog. */
export function define<T>(setting: Setting<T>): Setting<T> & { normalise(text: string): string | undefined } {
  return {
    ...setting,
    normalise(text) {
      const value = setting.parse(text);
      return value === undefined ? undefined : setting.print(value);
    },
  };
}
