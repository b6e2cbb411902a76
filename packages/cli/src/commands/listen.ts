import type { Command } from 'commander';
import { WEBHOOK_TYPES, type WebhookType } from '@beckon/contract';
import { readWebhookSecret } from '@beckon/contract/signature';
import type { ListenedMessage } from '@beckon/contract/dashboard';
import { followFeed } from '../api/feed.ts';
import { type Forwarded, forwardWebhook } from '../api/forward-webhook.ts';
import { Failure, usage } from '../failure.ts';
import { printable } from '../output/printable.ts';
import { action, type Running } from '../run.ts';
import { createSeen } from '../seen.ts';
import type { Shell } from '../shell.ts';

type ListenOptions = { forwardTo?: string; types?: string; printSecret?: true };
type Listening = Running<ListenOptions>;

export function addListen(program: Command, shell: Shell): void {
  program
    .command('listen')
    .description('fetch webhooks to this machine, and post them to a program that runs here; Ctrl-C ends it')
    .option(
      '--forward-to <url>',
      'where they are posted, signed as from an endpoint; without it they are shown only',
    )
    .option('--types <types>', `only these, with commas between: ${WEBHOOK_TYPES.join(', ')}`)
    .option('--print-secret', 'print the secret that signs, and nothing else; it is the same each time')
    .action(action<ListenOptions>(shell, listen, { endsByInterrupt: true }));
}

async function listen(running: Listening): Promise<void> {
  const { options, output, signal, shell } = running;
  const types = readTypes(options.types);
  const target = options.forwardTo === undefined ? null : readTarget(options.forwardTo);
  const { dashboard, project } = await running.inProject();
  const params = { project: project.id };
  const { secret } = (await dashboard.call('POST /projects/:project/listener', { params })).data;
  if (options.printSecret) return output.plain(`${secret}\n`);
  const key = readWebhookSecret(secret);
  if (key === null) throw new Failure('unexpected_answer', 'The server sent a secret that is none');
  await output.note(`Signed with ${secret}${target === null ? '' : `; posted to ${target}`}`);
  const feed = followFeed({
    open: (headers, until) =>
      dashboard.open('GET /projects/:project/listen', { params, headers, signal: until }),
    signal,
    wait: shell.wait,
    onOpen: () => output.note('Listening; Ctrl-C ends it.'),
    onLost: (why) => output.note(`Connection lost (${why}); trying again …`),
    onBack: () => output.note('Connected again.'),
    onGap: () => output.note('What may have come while the connection was away is not posted.'),
  });
  const isSeen = createSeen();
  for await (const { data } of feed) {
    const message = JSON.parse(data) as ListenedMessage;
    if (isSeen(message.id) || (types !== null && !types.has(message.type))) continue;
    const forwarded = target === null ? null : await forwardWebhook(message, { target, key, signal, shell });
    if (signal.aborted) return;
    await show(running, message, forwarded);
  }
}

async function show(
  { output }: Listening,
  message: ListenedMessage,
  forwarded: Forwarded | null,
): Promise<void> {
  const { id, type, body } = message;
  const value = {
    id,
    type,
    event: JSON.parse(body) as unknown,
    ...(forwarded === null ? {} : { forwarded }),
  };
  await output.next(value, () => {
    const head = `${output.paint('dim', id)}  ${printable(type)}`;
    return forwarded === null ? `${head}  ${printable(body)}` : `${head}  ${outcome(forwarded)}`;
  });

  function outcome({ status, error, ms, attempts }: Forwarded): string {
    const isTaken = status !== null && status >= 200 && status < 300;
    const said = status === null ? printable(error ?? 'no answer') : String(status);
    const again = attempts > 1 ? `, after ${attempts} attempts` : '';
    return `${output.paint(isTaken ? 'green' : 'red', said)}  ${ms} ms${again}`;
  }
}

function readTypes(text: string | undefined): ReadonlySet<string> | null {
  if (text === undefined) return null;
  const wanted = text.split(',').map((type) => type.trim());
  for (const type of wanted)
    if (!WEBHOOK_TYPES.includes(type as WebhookType))
      throw usage(`--types: ${type} is none of ${WEBHOOK_TYPES.join(', ')}`, '--types');
  return new Set(wanted);
}

/** The person's own program: wherever it is, in whatever form it is reached. */
function readTarget(text: string): string {
  const isPort = /^\d{2,5}$/.test(text);
  let url: URL;
  try {
    url = new URL(isPort ? `http://localhost:${text}` : /^https?:\/\//.test(text) ? text : `http://${text}`);
  } catch {
    throw usage(`--forward-to: ${text} is no address such as http://localhost:3000/webhooks`, '--forward-to');
  }
  if (url.username !== '' || url.password !== '')
    throw usage('--forward-to: no name and password belong into the address', '--forward-to');
  return url.href;
}
