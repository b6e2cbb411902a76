import type { SMTPServerDataStream, SMTPServerSession } from 'smtp-server';
import type { Log } from '../log.ts';

export type ReceivedMail = {
  from: string;
  to: string[];
  envid: string | null;
  raw: Buffer;
  /** The address of the client, and its name in HELO. */
  remote: string;
  helo: string;
};

/** `text` begins with the enhanced status, such as `5.1.1`. */
export type MailRefusal = { code: number; text: string };

export type Taking = {
  sizeMax: number;
  /** Bytes of all emails that are being received. */
  held: { bytes: number };
  /**
   * Waits for a turn before each chunk. Otherwise thirty connections that send 8 MiB each fill a turn of the event loop with 2 MB of line
   * scanning. Other requests of the process then wait 400 ms.
   */
  pace: () => Promise<void>;
  accept: (mail: ReceivedMail) => Promise<MailRefusal | void>;
  log: Log;
};

/** A few of the largest, so that concurrent emails do not fill the memory. */
const HELD_BYTES_MAX = 64 * 1024 * 1024;

/** Returns null if the email was accepted. A 5xx is the fault of the email; any exception is ours and becomes a 451. */
export async function takeLetter(
  stream: SMTPServerDataStream,
  session: SMTPServerSession,
  taking: Taking,
): Promise<Error | null> {
  const letter = { chunks: [] as Buffer[], bytes: 0, kept: 0 };
  try {
    const refused = await read(stream, letter, taking);
    if (refused) return refusal(refused);
    const answer = await taking.accept({ ...envelopeOf(session), raw: Buffer.concat(letter.chunks) });
    return answer ? refusal(answer) : null;
  } catch (error) {
    taking.log.error({ err: error }, 'inbound_email.not_accepted');
    return refusal({ code: 451, text: '4.3.0 The email could not be stored, try again later' });
  } finally {
    taking.held.bytes -= letter.kept;
  }
}

/** An email beyond the limit is read to its end, so that the client gets the reason, but it is not stored. */
async function read(
  stream: SMTPServerDataStream,
  letter: { chunks: Buffer[]; bytes: number; kept: number },
  { sizeMax, held, pace }: Taking,
): Promise<MailRefusal | null> {
  let isTooMuch = false;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    await pace();
    letter.bytes += chunk.length;
    isTooMuch ||= held.bytes + chunk.length > HELD_BYTES_MAX;
    if (letter.bytes <= sizeMax && !isTooMuch) {
      letter.chunks.push(chunk);
      letter.kept += chunk.length;
      held.bytes += chunk.length;
    } else {
      letter.chunks.length = 0;
      held.bytes -= letter.kept;
      letter.kept = 0;
    }
  }
  if (letter.bytes > sizeMax || stream.sizeExceeded) {
    return { code: 552, text: `5.3.4 The email is larger than ${sizeMax} bytes` };
  }
  return isTooMuch ? { code: 452, text: '4.3.1 Too many emails at once, try again later' } : null;
}

function envelopeOf({
  envelope,
  remoteAddress,
  hostNameAppearsAs,
}: SMTPServerSession): Omit<ReceivedMail, 'raw'> {
  const { mailFrom, rcptTo, dsn } = envelope;
  return {
    from: mailFrom ? mailFrom.address : '',
    to: rcptTo.map(({ address }) => address),
    envid: dsn?.envid ?? null,
    remote: remoteAddress,
    helo: hostNameAppearsAs,
  };
}

export function refusal({ code, text }: MailRefusal): Error {
  return Object.assign(new Error(text), { responseCode: code });
}
