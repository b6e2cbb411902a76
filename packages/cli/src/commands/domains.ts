import type { DnsRecord, SendingDomain } from '@beckon/contract/dashboard';
import { usage } from '../failure.ts';
import { call, custom, list, lookUp, type Noun } from '../framework/declare.ts';
import { flag, text } from '../framework/options.ts';
import { count } from '../output/words.ts';
import { checkView, recordsView, trackingView } from './domain-views.ts';

const DOMAINS = 'GET /projects/:project/domains';
const DOMAIN = 'GET /projects/:project/domains/:domain';
const CHECK = 'POST /projects/:project/domains/:domain/check';

const NAME = { domain: 'Domain name, such as mail.example.com' };
const THROTTLE = text('--throttle <rate>', 'Maximum sending rate of this domain: 5/s, 300/m, or off');
const SKIP_WARMUP = flag('--skip-warmup', 'Skip the warm-up of a domain that has sent emails for weeks');

export const domains: Noun = {
  name: 'domains',
  help: 'Manage sending domains and their DNS records',
  commands: [
    list(DOMAINS, 'list [filter...]', {
      help: 'List sending domains with the state of their DNS records',
      args: { filter: 'Filter terms such as state:failed paused:yes added:>2026-01-01' },
      isPaged: true,
      row: [
        'domain=name',
        ['state', stateOf],
        ['correct records', ({ records }) => `${records.filter(isCorrect).length} of ${records.length}`],
        'throttle',
        ['warm-up', ({ warm }) => (warm ? 'done' : 'needed')],
        ['tracking host', ({ tracking }) => tracking && `${tracking.host} (${tracking.state})`],
        'checked_at',
      ],
      empty: 'No sending domains yet. Add one: beckon domains add <domain>',
    }),
    call(DOMAIN, 'show <domain>', {
      help: 'Show the DNS records to publish for a domain',
      args: NAME,
      view: recordsView,
    }),
    call('POST /projects/:project/domains', 'add <domain>', {
      help: 'Add a sending domain and print the DNS records to publish',
      args: NAME,
      options: { throttle: THROTTLE, warm: SKIP_WARMUP },
      body: ({ domain: name, ...speed }) => ({ name, ...speed }),
      view: recordsView,
    }),
    custom('check [domain]', {
      help: 'Check the DNS records of a domain now; by default of all domains',
      args: NAME,
      routes: [DOMAINS, CHECK],
      async run({ api, output }, { domain }) {
        const check = async (name: string): Promise<SendingDomain> =>
          (await api.call(CHECK, { params: { domain: name } })).data;
        if (domain !== undefined) return output.value(await check(domain), checkView);
        const checked: SendingDomain[] = [];
        for (const { name } of (await api.call(DOMAINS, {})).data) checked.push(await check(name));
        await output.value(checked, (all, words) =>
          all.length === 0
            ? 'No sending domains yet. Add one: beckon domains add <domain>'
            : all.flatMap((domain) => checkView(domain, words)),
        );
      },
    }),
    call('PATCH /projects/:project/domains/:domain', 'set <domain>', {
      help: 'Set the throttle of a domain, or skip or start its warm-up',
      args: NAME,
      options: {
        throttle: THROTTLE,
        warm: SKIP_WARMUP,
        cold: flag('--start-warmup', 'Start a warm-up of a domain that skipped it'),
      },
      needsOption: true,
      body: ({ throttle, warm, cold }) => {
        if (warm && cold) throw usage('Pass only one of --skip-warmup and --start-warmup', '--skip-warmup');
        return { ...(throttle && { throttle }), ...((warm || cold) && { warm: warm ?? false }) };
      },
      view: ({ name, throttle, warm }) =>
        `${name}: throttle ${throttle}, ${warm ? 'no warm-up' : 'with a warm-up'}.`,
    }),
    call('DELETE /projects/:project/domains/:domain', 'remove <domain>', {
      help: 'Remove a sending domain and its DKIM keys',
      args: NAME,
      ...lookUp(DOMAIN),
      confirm: (_input, { name, can_send: sends }) =>
        `Remove ${name}?${sends ? ' Emails are sent from it now, and will be held.' : ''}`,
      body: (_input, { name }) => ({ name }),
      view: ({ name }) => `Removed ${name}. Keep its DNS records for a week, then delete them.`,
    }),
    call('POST /projects/:project/domains/:domain/pause', 'pause <domain>', {
      help: 'Pause sending from a domain. Its emails are held.',
      args: NAME,
      options: { reason: text('--reason <text>', 'Why, for the team') },
      view: ({ name }) => `Paused ${name}. Its emails are held. Resume: beckon domains resume ${name}`,
    }),
    call('POST /projects/:project/domains/:domain/resume', 'resume <domain>', {
      help: 'Resume sending from a domain that a member or too many bounces paused',
      args: NAME,
      ...lookUp(DOMAIN),
      view: ({ name, retried }, _words, { found }) =>
        found.paused_at === null
          ? `${name} was not paused.`
          : `Resumed ${name}. ${count(retried, 'held draft')} checked again now.`,
    }),
    call('POST /projects/:project/domains/:domain/rotate', 'rotate <domain>', {
      help: 'Rotate the DKIM key of a domain. The new key signs once its DNS record is found.',
      args: NAME,
      view: recordsView,
    }),
    call('PUT /projects/:project/domains/:domain/tracking', 'track <domain>', {
      help: 'Set the tracking host of a domain',
      args: NAME,
      options: {
        host: text('--host <host>', 'Name below the domain, such as t.mail.example.com'),
        off: flag('--off', "Use the server's own address in links"),
      },
      body: ({ host, off }) => {
        if ((host === undefined) === (off === undefined))
          throw usage('Pass one of --host and --off', '--host');
        return { host: host ?? null };
      },
      view: trackingView,
    }),
  ],
};

function stateOf({ state, paused_at, paused_reason }: SendingDomain): string {
  return paused_at === null ? state : `paused: ${paused_reason ?? 'no reason given'}`;
}

function isCorrect({ status }: DnsRecord): boolean {
  return status === 'ok';
}
