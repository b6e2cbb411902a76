import { open } from 'node:fs/promises';
import type { Command } from 'commander';
import { classifyMail, MAIL_BYTES_MAX, readMail } from '../../modules/inbound/index.ts';
import { addCommand, messageOf, table } from './command.ts';
import type { Operator } from './operator.ts';

export function addClassifyMailCommand(program: Command, operator: Operator): void {
  addCommand(program, operator, {
    name: 'classify-mail',
    help: 'Classify one inbound message as bounce, complaint, reply or another kind. Changes nothing.',
    options: (command) => command.argument('<file>', 'Message (.eml); - reads stdin'),
    async work(_options: object, [path = '']) {
      const { kind, recipients } = classifyMail(await readMail(await readMessage(path)));
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
    },
    text: ({ kind, recipients }) => (recipients.length === 0 ? kind : `${kind}\n${table(recipients, '')}`),
  });
}

/** Reads one byte more than a message may have, to notice a larger file without reading all of it. */
async function readMessage(path: string): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  try {
    await using file = await open(path === '-' ? '/dev/stdin' : path, 'r');
    for await (const chunk of file.createReadStream({ end: MAIL_BYTES_MAX })) chunks.push(chunk as Buffer);
  } catch (error) {
    throw new Error(`${path} cannot be read: ${messageOf(error)}`, { cause: error });
  }
  const bytes = Buffer.concat(chunks);
  if (bytes.length > MAIL_BYTES_MAX) throw new Error(`${path} is larger than ${MAIL_BYTES_MAX} bytes`);
  return bytes;
}
