import type { Relay, RelayKindInfo, RelayRecords } from '@beckon/contract/dashboard';
import { EXIT, usage } from '../failure.ts';
import type { Context } from '../framework/context.ts';
import { call, custom, list, type Noun } from '../framework/declare.ts';
import { flag, jsonFile, repeatable, required, text } from '../framework/options.ts';
import type { View } from '../output/view.ts';
import { pairsOf, readValues } from './connection-values.ts';
import { FEEDBACK, feedbackCommands } from './relay-feedback.ts';
import { findRelay, RELAYS } from './relay-options.ts';

const SETUP = 'GET /projects/:project/relay-setup';
const ADD = 'POST /projects/:project/relays';
const CHANGE = 'PATCH /projects/:project/relays/:relay';
const TEST = 'POST /projects/:project/relays/:relay/test';
const USE = 'PUT /projects/:project/relay-use';
const REMOVE = 'DELETE /projects/:project/relays/:relay';
const RECORDS = 'GET /projects/:project/relays/:relay/domains/:domain';

const RELAY = { relay: 'Relay ID or name' };
const SET = repeatable('--set <field=value>', 'A setting that is not secret, such as region=eu-central-1');
const SECRETS = jsonFile(
  '--secrets-file <file>',
  'JSON object with the secret fields; - reads stdin. On a terminal they are prompted for.',
);

export const relays: Noun = {
  name: 'relays',
  help: 'Manage the relays that send emails',
  commands: [
    list(RELAYS, 'list', {
      help: 'List relays with their state and where they are used',
      row: [
        'id',
        'name',
        ['kind', ({ title }) => title],
        ['state', ({ state }) => state],
        ['used by', usesOf],
        ['owner', ({ owner }) => owner],
        'checked_at',
      ],
      empty: 'No relays yet. Emails use SMTP_URL. Add a relay: beckon relays add <kind> --name <name>',
    }),
    custom('kinds', {
      help: 'List the kinds of relays and their fields',
      routes: [SETUP],
      async run({ api, output }) {
        const { data } = await api.call(SETUP, {});
        await output.value(data.kinds, (kinds) => kinds.map(kindView));
      },
    }),
    custom('show <relay>', {
      help: 'Show a relay without its secrets',
      args: RELAY,
      routes: [RELAYS],
      async run(context, { relay }) {
        await context.output.value(await findRelay(context, relay), relayView);
      },
    }),
    custom('add <kind>', {
      help: 'Add a relay. It sends nothing until you use it.',
      args: { kind: 'Kind of relay, from beckon relays kinds' },
      options: {
        name: required(text('--name <name>', 'Name of the relay')),
        set: SET,
        secrets: SECRETS,
        installation: flag('--installation', 'For all projects of this installation; owners of it only'),
      },
      routes: [SETUP, ADD],
      async run(context, { kind, name, set, secrets, installation }) {
        const info = await findKind(context, kind);
        const settings = await readValues(context, info, { set, secrets });
        const shared = installation ? { installation } : {};
        const { data } = await context.api.call(ADD, {
          body: { kind: info.kind, name, settings, ...shared },
        });
        await context.output.value(data, (added) => [
          `Added ${added.name}. Test it: beckon relays test ${added.id}`,
          `Then use it: beckon relays use ${added.id}`,
        ]);
      },
    }),
    custom('test <relay>', {
      help: 'Sign in to a relay without sending an email',
      args: RELAY,
      routes: [RELAYS, TEST],
      async run(context, { relay }) {
        const { id } = await findRelay(context, relay);
        const { data } = await context.api.call(TEST, { params: { relay: id } });
        await context.output.value(data, ({ ok, message }) => `${ok ? 'Succeeded' : 'Failed'}: ${message}`);
        return data.ok ? EXIT.ok : EXIT.failed;
      },
    }),
    custom('rotate <relay>', {
      help: 'Replace the credentials or other settings of a relay, without a restart',
      details: 'Settings that are left out stay as they are.',
      args: RELAY,
      options: { name: text('--name <name>', 'New name'), set: SET, secrets: SECRETS },
      routes: [SETUP, RELAYS, CHANGE, FEEDBACK],
      async run(context, { relay, name, set, secrets }) {
        const found = await findRelay(context, relay);
        const { fields } = (await context.api.call(FEEDBACK, { params: { relay: found.id } })).data;
        // Without a provider that reports outcomes, the fields are those of the kind.
        const info = fields.length > 0 ? { fields } : await findKind(context, found.kind);
        const isEmpty = name === undefined && set.length === 0;
        const settings =
          isEmpty || secrets
            ? await readValues(context, info, { set, secrets, isRotation: true })
            : pairsOf(set);
        const hasSettings = Object.keys(settings).length > 0;
        if (!hasSettings && name === undefined) throw usage('Pass --set, --secrets-file or --name', '--set');
        const body = { ...(name !== undefined && { name }), ...(hasSettings && { settings }) };
        const { data } = await context.api.call(CHANGE, { params: { relay: found.id }, body });
        await context.output.value(
          data,
          (changed) => `Changed ${changed.name}. Emails that are claimed from now on use the new settings.`,
        );
      },
    }),
    custom('use <relay>', {
      help: 'Use a relay for emails of the project, or of one domain, that are not being sent yet',
      args: { relay: 'Relay ID or name; default: the relay that would be used otherwise' },
      options: {
        domain: text('--domain <domain>', 'Only for this sending domain'),
        installation: flag(
          '--installation',
          'For all projects without a relay; owners of the installation only',
        ),
      },
      routes: [RELAYS, USE],
      async run(context, { relay, domain, installation }) {
        const id = relay === 'default' ? null : (await findRelay(context, relay)).id;
        const where = { ...(domain !== undefined && { domain }), ...(installation && { installation }) };
        const { data } = await context.api.call(USE, { body: { relay: id, ...where } });
        const place = domain ?? (installation ? 'all projects without a relay' : 'the project');
        const name = data.find((listed) => listed.id === id)?.name;
        await context.output.value(data, () =>
          id === null
            ? `Removed the relay of ${place}.`
            : `Emails of ${place} are sent through ${name ?? id}.`,
        );
      },
    }),
    custom('records <relay> <domain>', {
      help: 'Show the DNS records that the provider of a relay wants for a domain, with what was found',
      args: { ...RELAY, domain: 'Sending domain of the project' },
      routes: [RELAYS, RECORDS],
      async run(context, { relay, domain }) {
        const { id } = await findRelay(context, relay);
        const { data } = await context.api.call(RECORDS, { params: { relay: id, domain } });
        await context.output.value(data, recordsView);
      },
    }),
    ...feedbackCommands,
    call(REMOVE, 'delete <relay>', {
      help: 'Delete a relay that is not in use',
      args: { relay: 'Relay ID' },
      reads: [RELAYS],
      find: (context, { relay }) => findRelay(context, relay),
      confirm: (_input, { name }) => `Delete the relay ${name} and its credentials?`,
      body: (_input, { name }) => ({ name }),
      view: ({ name }) => `Deleted relay ${name}.`,
    }),
  ],
};

async function findKind({ api }: Context<typeof SETUP>, kind: string): Promise<RelayKindInfo> {
  const { kinds } = (await api.call(SETUP, {})).data;
  const found = kinds.find((info) => info.kind === kind);
  if (found) return found;
  throw usage(`Unknown kind ${kind}. Use one of ${kinds.map((info) => info.kind).join(', ')}`, 'kind');
}

function usesOf({ used_by_project, used_by_domains, used_by_installation }: Relay): string {
  const places = [
    ...(used_by_installation ? ['all projects without a relay'] : []),
    ...(used_by_project ? ['the project'] : []),
    ...used_by_domains,
  ];
  return places.join(', ');
}

function relayView(relay: Relay): View {
  const { id, name, title, owner, state, failure, settings } = relay;
  return [
    { ID: id, name, kind: title, owner, state, failure, 'used by': usesOf(relay) || 'nothing' },
    { Settings: Object.entries(settings).map(([field, value]) => `${field}: ${value}`) },
  ];
}

function kindView({ kind, title, fields }: RelayKindInfo): { [label: string]: string[] } {
  return {
    [`${kind} (${title})`]: fields.map(({ name, label, secret, required: isRequired, values, hint }) => {
      const notes = [
        isRequired ? 'required' : null,
        secret ? 'secret' : null,
        values && `one of ${values.join(', ')}`,
        hint,
      ];
      return `${name}: ${[label, ...notes.filter((note) => note !== null)].join(', ')}`;
    }),
  };
}

function recordsView(found: RelayRecords): View {
  const { domain, records, own_return_path: provider, guide_url, complete, failure } = found;
  return [
    records.length === 0
      ? `The provider returned no records for ${domain}.`
      : `DNS records of the provider for ${domain}:`,
    ...records.map(({ type, name, value, status, found }) => ({
      [`${type}  ${name}`]: [
        status,
        value,
        ...(status === 'ok' ? [] : found.map((other) => `found: ${other}`)),
      ],
    })),
    failure,
    provider &&
      `${provider} sends with a return path of its own, so the SPF record of ${domain} needs no change.`,
    !complete && guide_url ? `The provider shows more records at ${guide_url}` : null,
  ];
}
