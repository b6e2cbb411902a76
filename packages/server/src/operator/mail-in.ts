import { open } from 'node:fs/promises';
import type { Command } from 'commander';
import { Fault } from '../base/fault.ts';
import { classifyMail, MAIL_BYTES_MAX, readMail, type MailVerdict } from '../base/mail-in/index.ts';
import type { Operator } from './operator.ts';
import { JSON_OPTION, type OutputOptions, run } from './run.ts';
import { table } from './table.ts';

type ClassifyOptions = OutputOptions & { file: string };

export function addMailInCommands(program: Command, operator: Operator): void {
  const mailIn = program.command('mail-in').description('mail that comes in');
  mailIn
    .command('classify')
    .description('what one message is (bounce, complaint, automatic answer, reply, …) and whom it is about')
    .requiredOption('--file <file>', 'the message as it came in (.eml), or - for what is typed or piped')
    .option(...JSON_OPTION)
    .action((options: ClassifyOptions) =>
      run(operator, options, {
        async work() {
          return shown(classifyMail(await readMail(await readMessage(options.file))));
        },
        show: ({ kind, recipients }) =>
          [kind, ...(recipients.length > 0 ? [table(recipients, '')] : [])].join('\n'),
      }),
    );
}

function shown({ kind, recipients }: MailVerdict): Pick<MailVerdict, 'kind' | 'recipients'> {
  return {
    kind,
    recipients: recipients.map(({ class: found, final, status, reason, address }) => ({
      class: found,
      final,
      status,
      reason,
      address,
    })),
  };
}

const STDIN = '/dev/stdin';

/** A byte more than a message may have tells one that is too large from one that just fits. */
async function readMessage(path: string): Promise<Uint8Array> {
  const bytes = await readFileWithin(path === '-' ? STDIN : path);
  if (bytes.length > MAIL_BYTES_MAX) throw invalid(`${path} is larger than ${MAIL_BYTES_MAX} bytes`);
  return bytes;
}

async function readFileWithin(path: string): Promise<Uint8Array> {
  try {
    await using file = await open(path, 'r');
    return await collect(file.createReadStream({ end: MAIL_BYTES_MAX }));
  } catch (error) {
    throw invalid(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function collect(stream: AsyncIterable<unknown>): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream) {
    if (!Buffer.isBuffer(chunk)) continue;
    chunks.push(chunk);
    length += chunk.length;
    if (length > MAIL_BYTES_MAX) break;
  }
  return Buffer.concat(chunks);
}

function invalid(message: string): Fault {
  return new Fault('validation_failed', { details: [{ message, field: 'file' }] });
}
