import type { EmailListed, EmailWhole, EmailHit } from '@beckon/contract/dashboard';
import { call, download, list, type Noun } from '../framework/declare.ts';
import { type Column, fields, tableOf, viewOf } from '../output/auto.ts';
import type { View } from '../output/view.ts';
import { plain } from '../output/words.ts';
import { REPLY_ROW } from './replies.ts';

const EMAIL = { email: 'Email ID' };

export const emails: Noun = {
  name: 'emails',
  help: 'List, show and export sent emails and their outcomes',
  commands: [
    list('GET /projects/:project/emails', 'list [filter...]', {
      help: 'List emails that were sent or are being sent, newest first',
      args: { filter: 'Filter terms such as state:failed rule:welcome user:user_42 outcome:clicked' },
      isPaged: true,
      row: [
        'id',
        ['state', stateOf],
        ...fields('rule external_user_id subject'),
        ['outcomes', ({ outcomes }) => outcomes.map(plain).join(', ')],
        ['time', ({ ended_at, claimed_at }, { when }) => when(ended_at ?? claimed_at)],
      ],
      empty: 'No emails yet. Drafts that wait to be sent: beckon drafts list',
    }),
    call('GET /projects/:project/emails/:email', 'show <email>', {
      help: 'Show an email: its delivery, opens, clicks, replies and webhook deliveries',
      args: EMAIL,
      view: emailView,
    }),
    download('GET /projects/:project/emails/:email/eml', 'raw <email>', {
      help: 'Write the raw email (.eml) as it was sent',
      args: EMAIL,
    }),
    download('GET /projects/:project/emails/export', 'export [filter...]', {
      help: 'Export emails as CSV, at most 1,000,000',
    }),
  ],
};

const STATES: Record<EmailListed['state'], string> = {
  claimed: 'queued',
  submitting: 'sending',
  deferred: 'deferred',
  sent: 'sent',
  failed: 'failed',
  unknown: 'delivery unknown',
};

function stateOf({ state, reason, reason_text }: EmailListed): string {
  const why = reason_text ?? (reason === null ? null : plain(reason));
  return why === null ? STATES[state] : `${STATES[state]}: ${why}`;
}

const DETAILS = [
  ...fields('id subject state address external_user_id return_path rule template draft_id domain provider'),
  ...fields('attempts server_response=reply Relay_ID=relay_id started=claimed_at first_attempt_at'),
  ...fields('lease_until ended_at time_zone=user_time_zone opens_and_clicks=hit_count send_again'),
];

const OUTCOME: Column<EmailWhole['outcome_history'][number]>[] = [
  'occurred_at',
  ['outcome', ({ type }) => type.replace('email.', '')],
  ['by', by],
  'detail=text',
];
const HIT: Column<EmailHit>[] = [
  ...fields('at kind'),
  ['by', by],
  ...fields('because=reason_text url agent'),
];

function emailView(email: EmailWhole): View {
  const { raw, outcome_history, hits, links, replies, webhooks } = email;
  return [
    viewOf({ ...email, state: stateOf(email), return_path: raw?.mail_from }, DETAILS),
    raw === null
      ? 'The raw email is not stored.'
      : `${raw.text.trimEnd()}\n\nThe whole email: beckon emails raw ${email.id}`,
    tableOf({ title: 'Outcomes', empty: 'No outcomes yet.' }, outcome_history, OUTCOME),
    tableOf('Opens and clicks', hits, HIT),
    tableOf('Links', links, fields('url clicks bot_clicks')),
    tableOf('Replies', replies, REPLY_ROW),
    tableOf('Webhook deliveries', webhooks, fields('message=id type url state attempts delivered_at')),
  ];
}

function by({ bot }: Pick<EmailHit, 'bot'>): string | null {
  return bot && { no: 'human', probable: 'probably a bot', yes: 'bot' }[bot];
}
