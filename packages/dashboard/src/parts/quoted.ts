/** A text as one value of a filter, whatever it holds. */
export function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
}
