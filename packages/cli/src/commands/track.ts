import type { Command } from 'commander';
import type { EventInput } from '@beckon/contract';
import { usage } from '../failure.ts';
import { printable } from '../output/printable.ts';
import { collect, readProperties } from '../read-properties.ts';
import { action, type Running } from '../run.ts';
import type { Shell } from '../shell.ts';

type TrackOptions = { property: string[]; data?: string; at?: string; messageId?: string };

export function addTrack(program: Command, shell: Shell): void {
  program
    .command('track')
    .description('tell that a user did something')
    .argument('<user>', 'the external_user_id')
    .argument('<event>', 'the name of the event')
    .option('-p, --property <key=value>', 'a property; numbers and other JSON are read as such', collect, [])
    .option('--data <file>', 'a JSON object of properties; - reads it from stdin')
    .option('--at <time>', 'when it happened, such as 2026-01-31T14:30:00Z; now where left out')
    .option('--message-id <id>', 'your own id of it: a second event with it has no effect')
    .action(action<TrackOptions>(shell, track));
}

async function track(running: Running<TrackOptions>, user = '', name = ''): Promise<void> {
  const { options, output, signal, shell } = running;
  const { property, data: file, at, messageId } = options;
  if (file === '-' && options.keyFile === '-')
    throw usage('--data and --key-file cannot both be read from stdin');
  const properties = await readProperties(shell, { pairs: property, option: '--property', file });
  const event: EventInput = {
    external_user_id: user,
    name,
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
    ...(at === undefined ? {} : { occurred_at: readTime(at, '--at') }),
    ...(messageId === undefined ? {} : { message_id: messageId }),
  };
  await (await running.client()).track(event, { signal });
  await output.one({ accepted: true, event }, () => `Accepted: ${printable(name)} of ${printable(user)}`);
}

/** As it is sent: the moment that was meant, in UTC. */
export function readTime(text: string, option: string): string {
  const at = /^\d{4}-\d\d-\d\d(?:$|[T ])/.test(text) ? new Date(text) : new Date(Number.NaN);
  if (Number.isNaN(at.getTime()))
    throw usage(`${option}: ${text} is no time such as 2026-01-31T14:30:00Z`, option);
  return at.toISOString();
}
