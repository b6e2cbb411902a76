import type { RelayFeedback } from '@beckon/contract/dashboard';
import { custom } from '../framework/declare.ts';
import { text } from '../framework/options.ts';
import type { View } from '../output/view.ts';
import { findRelay, RELAYS } from './relay-options.ts';

export const FEEDBACK = 'GET /projects/:project/relays/:relay/feedback';
const REGISTER = 'POST /projects/:project/relays/:relay/feedback/webhook';
const PROVE = 'POST /projects/:project/relays/:relay/feedback/proof';

const SUPPRESSIONS = 'POST /projects/:project/relays/:relay/suppressions';

const RELAY = { relay: 'Relay ID or name' };

/** How bounces and complaints of a relay reach Beckon. */
export const feedbackCommands = [
  custom('feedback <relay>', {
    help: 'Show how bounces and complaints of a relay reach Beckon, and whether one ever did',
    details: 'The URL of the webhook may contain a secret.',
    args: RELAY,
    routes: [RELAYS, FEEDBACK],
    async run(context, { relay }) {
      const { id } = await findRelay(context, relay);
      const { data } = await context.api.call(FEEDBACK, { params: { relay: id } });
      await context.output.value(data, feedbackView);
    },
  }),
  custom('register-webhook <relay>', {
    help: 'Create the webhook of a relay at its provider',
    args: RELAY,
    routes: [RELAYS, REGISTER],
    async run(context, { relay }) {
      const { id, name } = await findRelay(context, relay);
      const { data } = await context.api.call(REGISTER, { params: { relay: id } });
      await context.output.value(data, ({ provider }) => [
        `Created the webhook at ${provider}.`,
        `Prove that it works: beckon relays prove ${name}`,
      ]);
    },
  }),
  custom('prove <relay>', {
    help: 'Send an email that bounces, to prove that bounces come back',
    args: RELAY,
    options: {
      address: text(
        '--address <address>',
        'An address that does not exist, if the provider simulates no bounce',
      ),
    },
    routes: [RELAYS, PROVE],
    async run(context, { relay, address }) {
      const { id, name } = await findRelay(context, relay);
      const body = address === undefined ? {} : { address };
      const { data } = await context.api.call(PROVE, { params: { relay: id }, body });
      await context.output.value(data, ({ to }) => [
        `Sent an email to ${to}.`,
        `When its bounce comes back, the feedback is proven: beckon relays feedback ${name}`,
      ]);
    },
  }),
  custom('import-suppressions <relay>', {
    help: 'Add the suppression list of the provider to that of the project',
    details: 'Importing it again adds only new addresses.',
    args: RELAY,
    routes: [RELAYS, SUPPRESSIONS],
    async run(context, { relay }) {
      const { id } = await findRelay(context, relay);
      const { data } = await context.api.call(SUPPRESSIONS, { params: { relay: id } });
      await context.output.value(
        data,
        ({ rows, added }) =>
          `Read ${rows} addresses of the provider, and suppressed ${added} of them that were not yet.`,
      );
    },
  }),
];

const PULLS = {
  on: 'Beckon reads the events of the provider every 30 seconds.',
  off: 'Beckon can read the events of the provider with more settings.',
  none: null,
};

function feedbackView(feedback: RelayFeedback): View {
  const { proven_at: provenAt, provider, by_smtp: bySmtp, api_needs: needs } = feedback;
  const { webhook, pull, simulator } = feedback;
  return [
    provenAt === null
      ? 'Not proven: no bounce or complaint has come back yet, so they may be missed.'
      : `Proven: a bounce or complaint first came back at ${provenAt}.`,
    provider === null ? 'Bounces arrive by email, because the host belongs to no known provider.' : null,
    provider && bySmtp ? `Emails are sent by SMTP. ${provider} returns the signed ID in their header.` : null,
    webhook && { 'webhook URL': webhook.url, events: webhook.events.join(', ') },
    webhook?.missing ? `Requests are refused until ${webhook.missing.field} is set.` : null,
    webhook?.can_register ? 'Create it at the provider: beckon relays register-webhook <relay>' : null,
    needs.length > 0 ? `Requests to the API need more settings: ${needs.join(', ')}.` : null,
    PULLS[pull],
    simulator && `The provider simulates a bounce for ${simulator}.`,
  ];
}
