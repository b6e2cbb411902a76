export type ReplyParts = { body: string; quoted: string };

const QUOTED_LINE = /^\s*>/;
/** The lines that email clients put before a quotation. */
const INTRODUCES = /(?:wrote|schrieb|a écrit|escribió|ha scritto):\s*$/;

/**
 * Splits a reply into its own text and the quoted emails. The quotation is the last run of quoted lines up to the end, with its
 * introduction. A quotation in the middle is part of the reply.
 */
export function splitQuoted(text: string): ReplyParts {
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
  if (!seen) return { body: text.trimEnd(), quoted: '' };
  return {
    body: lines.slice(0, start).join('\n').trimEnd(),
    quoted: lines.slice(start).join('\n').trimEnd(),
  };
}
