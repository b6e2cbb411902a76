import type { ReplyListed } from '@beckon/contract/dashboard';
import { call, list, type Noun } from '../framework/declare.ts';
import { text } from '../framework/options.ts';
import { type Column, fields, viewOf } from '../output/auto.ts';
import type { Block } from '../output/view.ts';
import type { Words } from '../output/words.ts';
import { replySourceCommands } from './reply-source.ts';

export const REPLY_ROW: Column<ReplyListed>[] = [
  ...fields('id from external_user_id subject automatic=auto_reply'),
  ['forwarded', forwardText],
  'received_at',
];

const REPLY = { reply: 'Reply ID' };

export const replies: Noun = {
  name: 'replies',
  help: 'List, read and forward replies of users',
  commands: [
    list('GET /projects/:project/replies', 'list', {
      help: 'List replies and automatic replies, newest first',
      isPaged: true,
      options: { user: text('--user <user>', 'Only replies of this user') },
      row: REPLY_ROW,
      empty:
        'No replies yet. To receive replies, set where they are forwarded to: ' +
        'beckon settings set reply_forward_to=team@example.com\n' +
        'If emails are sent through a relay, the server also needs MAIL_DOMAIN, or the project a reply source: ' +
        'beckon replies set-source imap',
    }),
    call('GET /projects/:project/replies/:reply', 'show <reply>', {
      help: 'Show a reply and all replies to the same email',
      args: REPLY,
      view: ({ email, thread, forward_to }, words) => [
        {
          'reply to': email === null ? 'an email that is no longer stored' : `“${email.subject}”`,
          sent: email && `${words.when(email.claimed_at)} to ${email.address}`,
          email: email?.id,
          rule: email?.rule,
          'forwarded to': forward_to ?? 'no address; set reply_forward_to',
        },
        ...thread.flatMap((reply) => replyBlocks(reply, words)),
      ],
    }),
    call('POST /projects/:project/replies/:reply/forward', 'forward <reply>', {
      help: 'Forward a reply to the team again',
      args: REPLY,
      view: ({ id }) => `Reply ${id} is forwarded by the next run of the worker.`,
    }),
    ...replySourceCommands,
  ],
};

const SIGNS: Record<ReplyListed['verified'], string> = {
  recipient: "the email's reply address, from its recipient",
  domain: "DMARC, from the recipient's domain",
  reference: 'DMARC, from the recipient, with the Message-ID of the email',
  token: "the email's reply address, from another sender",
  failed: 'nothing: DMARC failed',
};

function replyBlocks(reply: ReplyListed, words: Words): Block[] {
  const { from_name: name, verified } = reply;
  const from = name === '' ? reply.from : `${name} <${reply.from}>`;
  const forwarded = forwardText(reply, words);
  const values = { ...reply, from, verified: SIGNS[verified], forwarded };
  return [
    viewOf(
      values,
      fields('id from received_at subject sender_verified_by=verified automatic=auto_reply forwarded'),
    ),
    reply.text.trimEnd(),
  ];
}

function forwardText(reply: ReplyListed, { when }: Words): string | null {
  const { forward, forwarded_at, forward_at, forward_error } = reply;
  if (forward === 'done') return when(forwarded_at);
  if (forward === 'failed') return `failed: ${forward_error}`;
  return forward === 'waiting' ? `waiting, next attempt ${when(forward_at)}` : 'no';
}
