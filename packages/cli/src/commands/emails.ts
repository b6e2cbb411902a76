import type { EmailListed, EmailWhole, LetterHit, LetterOutcome } from '@beckon/contract/dashboard';
import { custom, download, list, type Noun } from '../framework/declare.ts';
import { downloadTo } from '../framework/download.ts';
import { text } from '../framework/options.ts';
import type { View } from '../output/view.ts';
import { plain, type Words } from '../output/words.ts';
import { replyRow } from './replies.ts';

const EMAIL = 'GET /projects/:project/emails/:email';
const RAW = 'GET /projects/:project/emails/:email/eml';

export const emails: Noun = {
  name: 'emails',
  help: 'List, show and export sent emails and their outcomes',
  commands: [
    list('GET /projects/:project/emails', 'list [filter...]', {
      help: 'List emails that were sent or are being sent, newest first',
      args: { filter: 'Filter terms such as state:failed rule:welcome user:user_42 outcome:clicked' },
      isPaged: true,
      row: (email, { when }) => ({
        id: email.id,
        state: stateOf(email),
        rule: email.rule,
        user: email.external_user_id,
        subject: email.subject,
        outcomes: email.outcomes.map(outcomeName).join(', '),
        sent: when(email.ended_at ?? email.claimed_at),
      }),
      empty: 'No emails yet. Drafts that wait to be sent: beckon drafts list',
    }),
    custom('show <email>', {
      help: 'Show an email: its delivery, opens, clicks, replies and webhook deliveries',
      args: { email: 'Email ID' },
      routes: [EMAIL],
      async run({ api, output }, { email: letter }) {
        const { data } = await api.call(EMAIL, { params: { email: letter } });
        await output.value(data, emailView);
      },
    }),
    custom('raw <email>', {
      help: 'Write the raw email (.eml) as it was sent',
      args: { email: 'Email ID' },
      options: { out: text('--out <file>', 'Write to this new file instead of stdout') },
      routes: [RAW],
      async run(context, { email: letter, out }) {
        await downloadTo(context, await context.api.open(RAW, { params: { email: letter } }), out);
      },
    }),
    download('GET /projects/:project/emails/export', 'export [filter...]', {
      help: 'Export emails as CSV, at most 1,000,000',
    }),
  ],
};

const STATES: Record<EmailListed['state'], string> = {
  claimed: 'sending',
  submitting: 'sending',
  deferred: 'waiting for a retry',
  sent: 'sent',
  failed: 'failed',
  unknown: 'delivery unknown',
};

function stateOf({ state, reason, reason_text }: EmailListed): string {
  const why = reason_text ?? (reason === null ? null : plain(reason));
  return why === null ? STATES[state] : `${STATES[state]}: ${why}`;
}

function outcomeName(outcome: LetterOutcome): string {
  return plain(outcome.replace('bot_', 'bot '));
}

function emailView(email: EmailWhole, words: Words): View {
  const { when } = words;
  return [
    emailDetails(email, words),
    email.frozen === null
      ? 'The raw email is not stored.'
      : `${email.frozen.text.trimEnd()}\n\nThe whole email: beckon emails raw ${email.id}`,
    {
      title: 'Outcomes',
      rows: email.outcome_history.map(({ type, text: what, occurred_at, bot }) => ({
        time: when(occurred_at),
        outcome: plain(type.replace('email.', '')),
        by: by(bot),
        detail: what,
      })),
      empty: 'No outcomes yet.',
    },
    { title: 'Opens and clicks', rows: email.hits.map((hit) => hitRow(hit, words)) },
    {
      title: 'Links',
      rows: email.links.map(({ url, clicks, bot_clicks }) => ({
        url,
        clicks,
        'bot clicks': bot_clicks,
      })),
    },
    { title: 'Replies', rows: email.replies.map((reply) => replyRow(reply, words)) },
    {
      title: 'Webhook deliveries',
      rows: email.webhooks.map(({ id, type, url, state, attempts, delivered_at }) => ({
        message: id,
        type,
        url,
        state: plain(state),
        attempts,
        delivered: when(delivered_at),
      })),
    },
  ];
}

function emailDetails(email: EmailWhole, { when }: Words) {
  const { frozen, hits, hits_counted } = email;
  return {
    id: email.id,
    subject: email.subject,
    state: stateOf(email),
    to: `${email.address} (${email.external_user_id})`,
    'return path': frozen?.mail_from,
    rule: email.rule,
    template: email.template,
    draft: email.draft_id,
    domain: email.domain,
    provider: email.provider,
    attempts: email.attempts,
    'server response': email.reply,
    'relay ID': email.relay_id,
    started: when(email.claimed_at),
    'first attempt': when(email.first_at),
    'next attempt': when(email.next_at),
    ended: when(email.ended_at),
    'time zone': email.user_time_zone,
    'opens and clicks': hits_counted > hits.length ? `${hits_counted}, the first ${hits.length} below` : null,
    'send again': email.send_again === 'no' ? null : `beckon drafts send-again ${email.draft_id}`,
  };
}

function hitRow({ at, kind, url, bot, reason_text, agent }: LetterHit, { when }: Words) {
  return { time: when(at), kind: plain(kind), by: by(bot), because: reason_text, url, agent };
}

function by(bot: LetterHit['bot']): string | null {
  if (bot === null) return null;
  return { no: 'human', probable: 'probably a bot', yes: 'bot' }[bot];
}
