/** All but line ends and tabs that moves a cursor, turns the direction of writing, or is no character at all. */
const UNPRINTABLE = /[^\P{C}\n\t]+|\u{FFFD}+/gu;
const REPLACEMENT = '\u{FFFD}';

/** What somebody else's server said, fit to be stored and shown: never more bytes than that. */
export function shown(bytes: Buffer, bytesMax: number): string {
  const text = bytes.toString('utf8').replaceAll('\r\n', '\n').replaceAll(UNPRINTABLE, REPLACEMENT);
  if (Buffer.byteLength(text) <= bytesMax) return text;
  return Buffer.from(text)
    .subarray(0, bytesMax)
    .toString('utf8')
    .replace(/(?<!\u{FFFD})\u{FFFD}+$/u, '');
}
