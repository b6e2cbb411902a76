import { type Command, Option } from 'commander';
import { CANONICAL_SAMPLES } from '../canonical-samples.ts';
import { usage } from '../failure.ts';
import { printable, toJson } from '../output/printable.ts';
import { collect, readProperties } from '../read-properties.ts';
import { action, type Running } from '../run.ts';
import type { Shell } from '../shell.ts';

type TriggerOptions = { user: string; email?: string; property: string[]; live?: true };

const NAMES = Object.keys(CANONICAL_SAMPLES);

export function addTrigger(program: Command, shell: Shell): void {
  program
    .command('trigger')
    .description('send a canonical event with believable properties, to see what your rules make of it')
    .argument('<event>', `one of ${NAMES.join(', ')}`)
    .addOption(new Option('--user <user>', 'whom it is about').default('beckon-trigger'))
    .option('--email <address>', 'make the user known under this address first')
    .option(
      '-p, --property <key=value>',
      'instead of a property that it would have, or beside them',
      collect,
      [],
    )
    .option('--live', 'yes, with a live key: rules fire, and letters may go out')
    .action(action<TriggerOptions>(shell, trigger));
}

async function trigger(running: Running<TriggerOptions>, name = ''): Promise<void> {
  const { options, output, signal, shell } = running;
  const sample = Object.hasOwn(CANONICAL_SAMPLES, name) ? CANONICAL_SAMPLES[name] : undefined;
  if (sample === undefined)
    throw usage(`${name} is no canonical event: they are ${NAMES.join(', ')}`, 'event');
  const own = await readProperties(shell, { pairs: options.property, option: '--property' });
  const { apiKey } = await running.connection();
  await requireConsent(running, await apiKey(), name);
  const client = await running.client();
  const { user, email } = options;
  if (email !== undefined) await client.users.upsert({ external_user_id: user, email }, { signal });
  const event = { external_user_id: user, name, properties: { ...sample, ...own } };
  await client.track(event, { signal });
  await output.one(
    { accepted: true, event },
    () => `Accepted: ${name} of ${printable(user)} ${toJson(event.properties)}`,
  );
}

/** With a live key an example may become a letter to somebody. */
async function requireConsent(
  { options, shell }: Running<TriggerOptions>,
  key: string,
  name: string,
): Promise<void> {
  if (!key.startsWith('sk_live_') || options.live) return;
  const canAsk = shell.stdin.isTerminal && shell.stderr.isTerminal && options.json !== true;
  const question = `This is a live key: rules fire on this ${name}, and letters may go out. Send it?`;
  if (canAsk && (await shell.ask.confirm(question)) === true) return;
  throw usage(
    'This is a live key: rules fire, and letters may go out. Say --live if that is meant',
    '--live',
  );
}
