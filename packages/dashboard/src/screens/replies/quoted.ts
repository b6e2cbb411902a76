export type Written = { own: string; quoted: string };

const QUOTED_LINE = /^\s*>/;
/** What mail programs write in front of what they quote. */
const INTRODUCES = /(?:wrote|schrieb|a écrit|escribió|ha scritto):\s*$/;

/**
 * What somebody wrote, and what stands behind it of earlier letters: the last run of quoted lines to the end, with the line that
 * introduces it. A quote in the middle of an answer belongs to the answer.
 */
export function splitQuoted(text: string): Written {
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  let start = lines.length;
  let seen = false;
  for (let at = lines.length - 1; at >= 0; at -= 1) {
    const line = lines[at] ?? '';
    const isQuoted = QUOTED_LINE.test(line);
    if (!isQuoted && line.trim() !== '' && !(seen && INTRODUCES.test(line))) break;
    seen ||= isQuoted;
    if (line.trim() !== '') start = at;
  }
  if (!seen) return { own: text.trimEnd(), quoted: '' };
  return { own: lines.slice(0, start).join('\n').trimEnd(), quoted: lines.slice(start).join('\n').trimEnd() };
}
