import type { DraftVersion } from '@beckon/contract/dashboard';
import { call, list, lookUp, type Noun } from '../framework/declare.ts';
import { choice, flag, jsonFile, required, text, time } from '../framework/options.ts';
import { fields, type Column, tableOf, viewOf } from '../output/auto.ts';
import { decide, HASH } from './draft-decisions.ts';
import { DRAFT_ROW, forecastWords, movedView } from './draft-views.ts';

const DRAFT = 'GET /projects/:project/drafts/:draft';
const CONTEXT = 'GET /projects/:project/drafts/:draft/context';

const DETAILS = fields(
  'id state reason rule user deadline_at expires_at held_until edited autopilot rule_holds content_hash send_check facts content',
);
const VERSION: Column<DraftVersion>[] = [
  ...fields('content_hash at actor'),
  ['subject', ({ content }) => content.subject],
];
const TEXTS = ['subject', 'preheader', 'body'];
const TO = text('--to <address>', "Address of a member, or one of the project's team_addresses");

export const drafts: Noun = {
  name: 'drafts',
  help: 'Review drafts: approve, edit, postpone or skip them',
  commands: [
    list('GET /projects/:project/drafts', 'list [filter...]', {
      help: 'List drafts that wait for review, by deadline',
      isPaged: true,
      options: { all: flag('--all', 'List every draft, newest first') },
      query: ({ all, filter }) => ({
        view: all ? ('all' as const) : ('review' as const),
        filter: filter.join(' '),
      }),
      row: DRAFT_ROW,
      empty: 'No drafts wait for review. A draft appears when a rule fires: beckon rules list',
    }),
    list('GET /projects/:project/review/decided', 'decided [filter...]', {
      help: 'List what members decided about drafts, newest first',
      isPaged: true,
      query: ({ filter }) => ({ filter: filter.join(' ') }),
      row: [
        ...fields('at action by'),
        ['draft', ({ draft }) => draft.id],
        ['subject', ({ draft }) => draft.subject],
        'rule',
        ['user', ({ user }) => user.external_user_id],
        ['detail', ({ reason, until }, { when }) => reason ?? (until && `to ${when(until) ?? ''}`)],
      ],
      empty: 'No member has decided about a draft yet. See which wait: beckon drafts list',
    }),
    call(DRAFT, 'show <draft>', {
      help: 'Show a draft, why it exists, and what would hold it now',
      ...lookUp(CONTEXT),
      value: (draft, { why }) => ({ ...draft, why }),
      view: (draft, _words, { found: { why } }) => [
        viewOf(draft, DETAILS),
        { because: why.map(({ sentence }) => sentence) },
        tableOf('History', draft.history, fields('at action from to actor reason')),
        tableOf('Outcomes', draft.outcomes, fields('occurred_at type')),
      ],
    }),
    list('GET /projects/:project/schedule/drafts', 'upcoming', {
      help: 'List drafts that are sent at their deadline, with the expected time',
      isPaged: true,
      options: {
        result: choice('--result <result>', 'Only drafts with this result', ['sends', 'held', 'expires']),
      },
      row: [
        ...fields('id rule external_user_id subject deadline_at'),
        ['expected', ({ forecast }, words) => forecastWords(forecast, words)],
      ],
      empty: 'No draft is sent at a deadline. Turn on autopilot: beckon rules set-mode <rule> autopilot',
    }),
    call('GET /projects/:project/drafts/:draft/preview', 'preview <draft>', {
      help: 'Show the email as it would be sent now, with its send checks',
      view: fields('from to headers text bytes links remote_images problems checks'),
    }),
    call('GET /projects/:project/drafts/:draft/versions', 'versions <draft>', {
      help: "List a draft's earlier texts, newest first",
      view: ({ versions }) => tableOf('Versions', versions, VERSION),
    }),
    decide('approve', {
      route: 'POST /projects/:project/drafts/:draft/approve',
      help: 'Approve a draft. It is sent when all send checks pass. Undo is possible for at least 10 seconds.',
      options: {
        anyway: flag('--anyway', "Approve although the condition of the draft's rule no longer holds"),
      },
      act: () => ({ kind: 'approve' }),
    }),
    decide('skip', {
      route: 'POST /projects/:project/drafts/:draft/skip',
      help: 'Skip a draft, so that it is not sent. Undo is possible for 10 seconds.',
      options: { reason: text('--reason <reason>', 'Why, for the history of the draft') },
      act: ({ reason }) => ({ kind: 'skip', ...(reason === undefined ? {} : { reason }) }),
    }),
    decide('postpone', {
      route: 'POST /projects/:project/drafts/:draft/postpone',
      help: 'Postpone the deadline of a draft',
      options: {
        until: required(
          time('--until <time>', 'New deadline: 2026-01-31T09:00:00Z, or 2h from now', 'ahead'),
        ),
        extend: flag('--extend', 'Also beyond the expiry of the draft'),
      },
      act: ({ until }) => ({ kind: 'postpone', until: until ?? '' }),
    }),
    call('POST /projects/:project/drafts/:draft/edit', 'edit <draft>', {
      help: "Edit a draft's subject, preheader or body. It no longer follows its template or changed facts.",
      options: {
        ...HASH,
        file: required(jsonFile('--file <file>', 'JSON with some of subject, preheader and body', TEXTS)),
      },
      body: ({ file, hash }) => ({ ...file, ...(hash === undefined ? {} : { hash }) }),
      view: movedView,
    }),
    call('POST /projects/:project/drafts/:draft/undo', 'undo <draft>', {
      help: 'Undo an approval until the draft is sent, or a skip or postponement for 10 seconds',
      options: HASH,
      view: movedView,
    }),
    call('POST /projects/:project/drafts/:draft/send-again', 'send-again <draft>', {
      help: 'Send a failed email, or one whose delivery is unknown, again as a new draft',
      ...lookUp(DRAFT),
      confirm: (_input, { state, subject, user }) =>
        state === 'unknown'
          ? `It is unknown whether “${subject}” reached ${user.external_user_id}. It may arrive twice. Send it again?`
          : null,
      body: (_input, { user }) => ({ confirm: user.external_user_id }),
      view: movedView,
    }),
    call('POST /projects/:project/drafts/:draft/send-test', 'send-test <draft>', {
      help: 'Send a copy of a draft to a member. The draft does not change.',
      options: { to: TO },
      view: ({ to, subject, reply }) => `Sent “${subject}” to ${to}: ${reply}`,
    }),
  ],
};
