/** The values of a statement in the making: whatever a user wrote goes here, and only its placeholder into the text. */
export type SqlParams = {
  readonly values: unknown[];
  /** Appends the value and returns its placeholder, as `$3`. */
  add(value: unknown): string;
};

/** Goes on after the values already given, and appends to that very list. */
export function sqlParams(values: unknown[]): SqlParams {
  return { values, add: (value) => `$${values.push(value)}` };
}
