import { call, list, type Noun } from '../framework/declare.ts';
import { choice, required, text } from '../framework/options.ts';
import { fields } from '../output/auto.ts';
import { plain } from '../output/words.ts';
import { Failure } from '../failure.ts';

const KEYS = 'GET /projects/:project/keys';

export const keys: Noun = {
  name: 'keys',
  help: 'Create, list and revoke API keys',
  commands: [
    list(KEYS, 'list [filter...]', {
      help: 'List API keys with their last use, including revoked keys',
      args: { filter: 'Filter terms such as state:active env:live used:<2026-01-01' },
      isPaged: true,
      row: [
        ...fields('id label env display'),
        ['state', ({ revoked_at }) => (revoked_at === null ? 'active' : 'revoked')],
        ['client', ({ client }) => client && `${client.name}/${client.version}`],
        ...fields('minimum_version last_used_at created_at'),
      ],
      empty: 'No API keys yet. Create one: beckon keys create --name <label>',
    }),
    call('POST /projects/:project/keys', 'create', {
      help: 'Create an API key and print its secret once',
      options: {
        label: required(text('--name <label>', 'Label of the key, such as the server that uses it')),
        env: choice('--env <env>', 'Environment (default: live; test is the sandbox)', ['live', 'test']),
      },
      view: ({ id, secret }) => [secret, `Store the key now. It is not shown again. Key ID: ${id}`],
    }),
    call('POST /projects/:project/keys/:key/revoke', 'revoke <key>', {
      help: 'Revoke an API key immediately and permanently',
      args: { key: 'Key ID' },
      reads: [KEYS],
      async find({ api }, { key }) {
        const { data } = await api.call(KEYS, {});
        const found = data.find(({ id }) => id === key);
        if (found) return found;
        throw new Failure('not_found', `Unknown key ${key}. List keys with: beckon keys list`);
      },
      confirm: (_input, { label, env }) =>
        `Revoke the ${plain(env)} key “${label}”? Requests that use it fail immediately.`,
      body: (_input, { label }) => ({ label }),
      view: ({ label }, { when }, { found }) =>
        found.revoked_at === null
          ? `Revoked key ${label}.`
          : `Key ${label} was already revoked (${when(found.revoked_at)}).`,
    }),
  ],
};
