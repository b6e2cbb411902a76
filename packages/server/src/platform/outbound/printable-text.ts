/** All characters except line ends and tabs that move a cursor, change the writing direction, or are unassigned. */
const UNPRINTABLE = /[^\P{C}\n\t]+|\u{FFFD}+/gu;
const REPLACEMENT = '\u{FFFD}';

/** Makes the answer of a third party's server printable and storable, within `bytesMax`. */
export function shown(bytes: Buffer, bytesMax: number): string {
  const text = bytes.toString('utf8').replaceAll('\r\n', '\n').replaceAll(UNPRINTABLE, REPLACEMENT);
  if (Buffer.byteLength(text) <= bytesMax) return text;
  return Buffer.from(text)
    .subarray(0, bytesMax)
    .toString('utf8')
    .replace(/(?<!\u{FFFD})\u{FFFD}+$/u, '');
}
