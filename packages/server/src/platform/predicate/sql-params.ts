/** The parameters of a statement under construction: user input goes here, and only its placeholder into the text. */
export type SqlParams = {
  readonly values: unknown[];
  /** Appends the value and returns its placeholder, such as `$3`. */
  add(value: unknown): string;
};

/** Continues after the given values, and appends to the same list. */
export function sqlParams(values: unknown[]): SqlParams {
  return { values, add: (value) => `$${values.push(value)}` };
}
