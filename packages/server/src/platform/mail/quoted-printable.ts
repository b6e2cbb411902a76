const LINE_MAX = 76;
const [TAB, LF, CR, SPACE, EQUALS, DOT, UPPER_F] = [9, 10, 13, 32, 61, 46, 70];
const HEX = Buffer.from('0123456789ABCDEF', 'latin1');

/** 1 for bytes that are literal in any position. */
const PLAIN = new Uint8Array(256);
for (let byte = 33; byte <= 126; byte += 1) PLAIN[byte] = byte === EQUALS ? 0 : 1;

/**
 * Encodes text as quoted-printable with CRLF, whatever its line ends. It stays readable, which filters prefer to base64.
 *
 * The result has no long line, no trailing white space, no leading dot and no leading `From`. So no mail server has a reason to change
 * it, which would break the signature.
 */
export function quotedPrintable(text: string): Buffer {
  const input = Buffer.from(text.toWellFormed(), 'utf8');
  const out = Buffer.allocUnsafe(input.length * 3 + Math.ceil(input.length / 24) * 3 + 2);
  let at = 0;
  let lineStart = 0;
  for (let i = 0; i < input.length; i += 1) {
    const byte = input[i] ?? 0;
    if (byte === CR || byte === LF) {
      if (byte === CR && input[i + 1] === LF) i += 1;
      at = endLine(out, at);
      lineStart = at;
      continue;
    }
    const plain = isPlain(input, i, at === lineStart);
    if (at - lineStart + (plain ? 1 : 3) >= LINE_MAX) {
      out[at] = EQUALS;
      at = endLine(out, at + 1);
      lineStart = at;
    }
    // Checked again for a byte that is now the first in its line.
    if (plain && (at > lineStart || isPlain(input, i, true))) out[at++] = byte;
    else at = escape(out, at, byte);
  }
  return out.subarray(0, at);
}

function isPlain(input: Buffer, i: number, first: boolean): boolean {
  const byte = input[i] ?? 0;
  if (byte === SPACE || byte === TAB) {
    const next = input[i + 1];
    return next !== undefined && next !== CR && next !== LF;
  }
  if (first && (byte === DOT || byte === UPPER_F)) return byte === UPPER_F && input[i + 1] !== 114;
  return PLAIN[byte] === 1;
}

function endLine(out: Buffer, at: number): number {
  out[at] = CR;
  out[at + 1] = LF;
  return at + 2;
}

function escape(out: Buffer, at: number, byte: number): number {
  out[at] = EQUALS;
  out[at + 1] = HEX[byte >> 4] ?? 0;
  out[at + 2] = HEX[byte & 15] ?? 0;
  return at + 3;
}
