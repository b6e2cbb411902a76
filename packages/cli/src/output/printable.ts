/**
 * Replaces characters that could move the cursor, reverse the reading direction or imitate another line. Names, subjects
 * and traits are written by the customer's users, so any of them can contain such characters.
 */
export function printable(text: string): string {
  return text.replaceAll(CONTROLS, '\u{FFFD}');
}

/** The same for text of several lines. */
export function printableLines(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .split('\n')
    .map((line) => printable(line.replaceAll('\t', '  ')))
    .join('\n');
}

/** JSON on one line for every reader, with control characters escaped. */
export function toJson(value: unknown): string {
  const text: string | undefined = JSON.stringify(value);
  return (text ?? 'null').replaceAll(CONTROLS, (found) =>
    [...Array(found.length).keys()]
      .map((at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

const CONTROLS = /[\p{Cc}\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/gu;
