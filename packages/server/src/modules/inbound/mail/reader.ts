import { classifyMail } from '../classification/classify-mail.ts';
import type { InboundMail } from '../classification/mail.ts';
import type { InboundEnvelope, MailClassification } from '../classification/classification.ts';
import { readMail } from '../classification/read-mail.ts';
import { replyText } from '../classification/reply-text.ts';
import { createWorkerPool, TaskStopped, type WorkerPool } from '../../../platform/threads/worker-pool.ts';

/** An inbound email, its classification, and the text that its author wrote. */
export type ReadInbound = { mail: InboundMail; classification: MailClassification; text: string };
export type MailReaderInput = { raw: Uint8Array; envelope: InboundEnvelope };

/**
 * Reading an email within these bounds takes about 10 ms. Reading 10 MB takes a second or more, which would block the process.
 * Lines cost more than their content: 60,000 empty lines take as long as 10 MB, and are 120 kB. Address lists cost most:
 * 125 kB of them took 150 ms, in one field or in many. A list of 8 kB has about 200 addresses.
 */
const HERE_MAX_BYTES = 128 * 1024;
const HERE_MAX_LINES = 2_000;
const HERE_MAX_ADDRESS_BYTES = 8 * 1024;
const WITHIN_MS = 30_000;
const THREADS_MAX = 2;
const THREAD_MEMORY_MB = 512;
const QUEUE_SLOTS = 1_000;

type ReadingTasks = { read: typeof readHere };

/** Null for an email that exceeds the bounds of time or memory. It would exceed them again. */
export type MailReader = (input: MailReaderInput) => Promise<ReadInbound | null>;

export type MailReaderPool = { read: MailReader; close: () => Promise<void> };

/** Reads large emails in worker threads. */
export function createMailReader(): MailReaderPool {
  const pool = createWorkerPool<ReadingTasks>({
    url: new URL('reader-thread.ts', import.meta.url),
    threadsMax: THREADS_MAX,
    memoryMb: THREAD_MEMORY_MB,
    slots: QUEUE_SLOTS,
  });
  return {
    read: (input) => (isQuick(input.raw) ? readHere(input) : readInThread(pool, input)),
    close: () => pool.close(),
  };
}

/** Returns whether an email is read in this thread. */
export function isQuick(raw: Uint8Array): boolean {
  if (raw.length > HERE_MAX_BYTES) return false;
  let lines = 0;
  for (let at = 0; at < raw.length; at += 1)
    if (raw[at] === LF || (raw[at] === CR && raw[at + 1] !== LF)) lines += 1;
  return lines <= HERE_MAX_LINES && addressBytes(raw) <= HERE_MAX_ADDRESS_BYTES;
}

const [LF, CR] = [10, 13];
/** The fields that the MIME parser reads as lists of addresses. */
const ADDRESS_FIELDS = new Set([
  'from',
  'sender',
  'reply-to',
  'to',
  'cc',
  'bcc',
  'delivered-to',
  'return-path',
]);
const LINE_END = /\r\n|\r|\n/;
/** Empty lines in front of an email are skipped when it is read. */
const HEADER_END = /[^\r\n](?:\r\n|\n|\r(?!\n)){2}/;

/** Returns the length of all address fields together, or 0 if the whole header is shorter than the bound. */
function addressBytes(raw: Uint8Array): number {
  if (HEADER_END.test(latin1(raw.subarray(0, HERE_MAX_ADDRESS_BYTES)))) return 0;
  const [header = ''] = latin1(raw).trimStart().split(HEADER_END, 1);
  let bytes = 0;
  let isAddress = false;
  for (const line of header.split(LINE_END)) {
    const isContinued: boolean = isAddress && /^[ \t]/.test(line);
    isAddress = isContinued || ADDRESS_FIELDS.has(line.split(':', 1)[0]?.trim().toLowerCase() ?? '');
    if (isAddress) bytes += line.length;
  }
  return bytes;
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

export async function readHere({ raw, envelope }: MailReaderInput): Promise<ReadInbound> {
  const mail = await readMail(raw);
  return { mail, classification: classifyMail(mail, envelope), text: replyText(mail) };
}

/** Throws when the queue is full, so that the sending server tries again later. */
async function readInThread(
  pool: WorkerPool<ReadingTasks>,
  input: MailReaderInput,
): Promise<ReadInbound | null> {
  try {
    return await pool.run('read', input, { key: 'mail', deadlineMs: WITHIN_MS });
  } catch (error) {
    if (error instanceof TaskStopped && error.isForGood) return null;
    throw error;
  }
}
