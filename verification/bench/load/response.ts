/**
 * Parses just enough of HTTP/1.1 to find the end of a response and its status, Content-Length and `Connection: close`. It works on bytes
 * where they arrive; only a head that comes in two pieces is copied. Interim responses (1xx) are skipped. Chunked encoding is not
 * supported: our server never sends it, and a server that does is reported as unreadable.
 */
export type Reader = {
  /** Returns the status of the response that these bytes complete, 0 if it is incomplete, or -1 if the bytes are not such a response. */
  read(chunk: Buffer, length: number): number;
  /** Set if the server announced that it closes the connection after this response. */
  closing: boolean;
  reset(): void;
};

const HEAD_MAX_BYTES = 16 * 1024;
const LF = 10;
const CR = 13;

export function createReader(): Reader {
  let kept: Buffer | null = null;
  let keptLength = 0;
  /** Bytes of the body still to come, or -1 while the head is read. */
  let bodyLeft = -1;
  const head: Head = { status: 0, contentLength: 0, closing: false, end: 0 };

  function join(chunk: Buffer, length: number): boolean {
    kept ??= Buffer.allocUnsafe(HEAD_MAX_BYTES);
    if (keptLength + length > kept.length) return false;
    chunk.copy(kept, keptLength, 0, length);
    keptLength += length;
    return true;
  }

  function readHead(chunk: Buffer, length: number): number {
    let bytes = chunk;
    let available = length;
    if (keptLength > 0) {
      if (!join(chunk, length)) return -1;
      bytes = kept ?? chunk;
      available = keptLength;
    }
    for (let from = 0; from < available;) {
      if (!parseHead(bytes, { from, to: available }, head)) {
        if (keptLength > 0) return available < HEAD_MAX_BYTES ? 0 : -1;
        return join(chunk.subarray(from, length), length - from) ? 0 : -1;
      }
      if (head.contentLength < 0) return -1;
      from = head.end;
      if (head.status >= 200) return body(available - from);
    }
    keptLength = 0;
    return 0;
  }

  function body(available: number): number {
    keptLength = 0;
    bodyLeft = head.contentLength - available;
    if (bodyLeft > 0) return 0;
    const complete = bodyLeft === 0;
    bodyLeft = -1;
    reader.closing = head.closing;
    // One request is under way, so one response is expected: anything behind it belongs to no request.
    return complete ? head.status : -1;
  }

  const reader: Reader = {
    closing: false,
    read(chunk, length) {
      if (bodyLeft < 0) return readHead(chunk, length);
      head.contentLength = bodyLeft;
      return body(length);
    },
    reset() {
      keptLength = 0;
      bodyLeft = -1;
      reader.closing = false;
    },
  };
  return reader;
}

/** `contentLength` is -1 if the header is missing and the status requires one. */
type Head = { status: number; contentLength: number; closing: boolean; end: number };

/** Returns false if the head is not complete yet. */
function parseHead(bytes: Buffer, { from, to }: { from: number; to: number }, head: Head): boolean {
  head.closing = false;
  head.contentLength = -1;
  for (let i = from; i < to; i += 1) {
    if (bytes[i] !== LF) continue;
    const first = (bytes[i + 1] ?? 0) | 0x20;
    if (i + 2 < to && bytes[i + 1] === CR && bytes[i + 2] === LF) {
      head.end = i + 3;
      head.status = digits(bytes, from + 9);
      if (head.contentLength < 0 && (head.status < 200 || head.status === 204 || head.status === 304))
        head.contentLength = 0;
      return true;
    }
    if (first === 0x63) readLine(bytes, i + 1, head);
  }
  return false;
}

const CONTENT_LENGTH = Buffer.from('content-length:', 'latin1');
const CLOSE = Buffer.from('connection: close', 'latin1');

/** Reads a header line. A line that the end of the chunk cuts short is read again when the rest has arrived. */
function readLine(bytes: Buffer, at: number, head: Head): void {
  if (startsWith(bytes, at, CONTENT_LENGTH)) {
    let digit = at + CONTENT_LENGTH.length;
    while (bytes[digit] === 0x20) digit += 1;
    head.contentLength = digits(bytes, digit);
  } else if (startsWith(bytes, at, CLOSE)) head.closing = true;
}

function startsWith(bytes: Buffer, at: number, lowerCase: Buffer): boolean {
  for (let i = 0; i < lowerCase.length; i += 1) {
    const byte = bytes[at + i] ?? 0;
    const lower = byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte;
    if (lower !== lowerCase[i]) return false;
  }
  return true;
}

function digits(bytes: Buffer, from: number): number {
  let value = 0;
  for (let i = from; ; i += 1) {
    const digit = (bytes[i] ?? 0) - 48;
    if (digit < 0 || digit > 9) return value;
    value = value * 10 + digit;
  }
}
