import { WEBHOOK_TYPES } from '@beckon/contract';
import { readWebhookSecret } from '@beckon/contract/signature';
import type { ListenedWebhook } from '@beckon/contract/dashboard';
import { followFeed } from '../api/feed.ts';
import { type Forwarded, forwardWebhook } from '../api/forward-webhook.ts';
import { Failure } from '../failure.ts';
import { custom } from '../framework/declare.ts';
import { choices, flag, invalid, type OptionSource, text } from '../framework/options.ts';
import { printable } from '../output/printable.ts';
import type { Words } from '../output/words.ts';
import { createSeen } from '../seen.ts';

export const listen = custom('listen', {
  help: 'Receive webhook events on this machine and forward them to a local server; Ctrl-C ends it',
  routes: ['POST /projects/:project/listener', 'GET /projects/:project/listen'],
  options: {
    target: text(
      '--forward-to <url>',
      'Address that receives signed events; without it they are only shown',
      readTarget,
    ),
    types: choices('--types <types>', 'Only these event types, separated by commas', WEBHOOK_TYPES),
    printSecret: flag('--print-secret', 'Print the signing secret and exit; it is the same each time'),
  },
  isStream: true,
  async run({ api, output, shell, signal }, { target, types, printSecret }) {
    const { data: listener } = await api.call('POST /projects/:project/listener', {});
    const { secret } = listener;
    if (printSecret) return output.value(listener, () => secret);
    const key = readWebhookSecret(secret);
    if (key === null) throw new Failure('unexpected_answer', 'The server sent an invalid signing secret');
    await output.note(`Signing secret: ${secret}${target === undefined ? '' : `\nForwarding to ${target}`}`);
    const feed = followFeed({
      open: (headers, until) => api.open('GET /projects/:project/listen', { headers, signal: until }),
      signal,
      wait: shell.wait,
      note: output.note,
      onOpen: 'Listening. Press Ctrl-C to end.',
      onGap: 'Events from the time without a connection are not forwarded.',
    });
    const isSeen = createSeen();
    for await (const data of feed) {
      const message = JSON.parse(data) as ListenedWebhook;
      if (isSeen(message.id) || (types && !types.some((type) => type === message.type))) continue;
      const forwarded =
        target === undefined ? null : await forwardWebhook(message, { target, key, signal, shell });
      if (signal.aborted) return;
      const { id, type, body } = message;
      const value = { id, type, event: JSON.parse(body) as unknown, ...(forwarded && { forwarded }) };
      await output.painted(value, (_value, words) => messageLine(message, forwarded, words));
    }
  },
});

function messageLine(
  { id, type, body }: ListenedWebhook,
  forwarded: Forwarded | null,
  { paint }: Words,
): string {
  const head = `${paint('dim', id)}  ${printable(type)}`;
  if (forwarded === null) return `${head}  ${printable(body)}`;
  const { status, error, ms, attempts } = forwarded;
  const isSuccess = status !== null && status >= 200 && status < 300;
  const result = status === null ? printable(error ?? 'no response') : String(status);
  const retries = attempts > 1 ? `, after ${attempts} attempts` : '';
  return `${head}  ${paint(isSuccess ? 'green' : 'red', result)}  ${ms} ms${retries}`;
}

/** A port, a host or a URL. */
function readTarget(text: string, source: OptionSource): string {
  const host = /^\d{2,5}$/.test(text) ? `localhost:${text}` : text;
  const address = /^https?:\/\//.test(host) ? host : `http://${host}`;
  if (!URL.canParse(address))
    throw invalid(source, `must be an address such as http://localhost:3000/webhooks, not ${text}`);
  const { username, password, href } = new URL(address);
  if (username !== '' || password !== '') throw invalid(source, 'must not contain a user name or password');
  return href;
}
