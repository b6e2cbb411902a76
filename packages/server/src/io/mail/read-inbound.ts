import { Worker } from 'node:worker_threads';
import {
  classifyMail,
  type InboundMail,
  type MailEnvelope,
  type MailVerdict,
  readMail,
  replyText,
} from '../../base/mail-in/index.ts';
import { createSlots } from './slots.ts';

/** A mail, what it is, and what of it somebody wrote. */
export type ReadInbound = { mail: InboundMail; verdict: MailVerdict; text: string };
export type ToRead = { raw: Uint8Array; envelope: Pick<MailEnvelope, 'to'> & { from: string } };

/**
 * Some ten milliseconds; ten megabytes take a second and more, in which the process would answer nobody. Lines cost more than
 * what stands in them: sixty thousand empty ones take as long as ten megabytes, and are 120 kB.
 */
const HERE_MAX_BYTES = 128 * 1024;
const HERE_MAX_LINES = 2_000;
const WITHIN_MS = 30_000;
const THREADS_MAX = 2;
const THREAD_MEMORY_MB = 512;

/** Null where a mail takes more time or memory than any needs: it was made for that, and would do the same again. */
export type MailReader = (asked: ToRead) => Promise<ReadInbound | null>;

/** Mails that take long are read in a thread of their own, a few at a time. */
export function createMailReader(): MailReader {
  const threads = createSlots(THREADS_MAX);
  return async (asked) => {
    if (isQuick(asked.raw)) return readHere(asked);
    if (!(await threads.take())) throw new Error('too many large mails wait to be read');
    try {
      return await readApart(asked);
    } finally {
      threads.free();
    }
  };
}

/** Whether it is read at once, by the process that has it. */
export function isQuick(raw: Uint8Array): boolean {
  if (raw.length > HERE_MAX_BYTES) return false;
  let lines = 0;
  for (let at = 0; at < raw.length; at += 1)
    if (raw[at] === LF || (raw[at] === CR && raw[at + 1] !== LF)) lines += 1;
  return lines <= HERE_MAX_LINES;
}

const [LF, CR] = [10, 13];

export async function readHere({ raw, envelope }: ToRead): Promise<ReadInbound> {
  const mail = await readMail(raw);
  return { mail, verdict: classifyMail(mail, envelope), text: replyText(mail) };
}

function readApart(asked: ToRead): Promise<ReadInbound | null> {
  const { promise, resolve } = Promise.withResolvers<ReadInbound | null>();
  const thread = new Worker(new URL('reading-thread.ts', import.meta.url), {
    workerData: asked,
    resourceLimits: { maxOldGenerationSizeMb: THREAD_MEMORY_MB },
  });
  const late = setTimeout(() => resolve(null), WITHIN_MS);
  thread.on('message', (read: ReadInbound) => resolve(read));
  thread.on('error', () => resolve(null));
  thread.on('exit', () => resolve(null));
  return promise.finally(() => {
    clearTimeout(late);
    void thread.terminate();
  });
}
