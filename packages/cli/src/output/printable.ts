/**
 * Names, subjects and whatever else customers' users write could move the cursor of a terminal, turn the reading direction or
 * pretend to be another line: on a terminal such characters are shown as one that says that something is there.
 */
export function printable(text: string): string {
  return text.replaceAll(MOVING, '\u{FFFD}');
}

/** The same for texts of several lines. */
export function printableLines(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .split('\n')
    .map((line) => printable(line.replaceAll('\t', '  ')))
    .join('\n');
}

/** JSON that is one line for every reader, and that a terminal only ever shows. */
export function toJson(value: unknown): string {
  const text: string | undefined = JSON.stringify(value);
  return (text ?? 'null').replaceAll(MOVING, (found) =>
    [...Array(found.length).keys()]
      .map((at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

const MOVING = /[\p{Cc}\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/gu;
