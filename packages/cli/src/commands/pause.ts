import { call, lookUp } from '../framework/declare.ts';
import { count } from '../output/words.ts';

const EFFECT_OF_PAUSE = 'GET /projects/:project/pause';
const EFFECT_OF_RESUME = 'GET /projects/:project/resume';
const TIMEOUT_MS = 2 * 60_000;

export const pause = call('POST /projects/:project/pause', 'pause', {
  help: 'Pause sending in a project. Records are still accepted, and drafts are still created.',
  reads: [EFFECT_OF_PAUSE],
  find: async ({ api }) => (await api.call(EFFECT_OF_PAUSE, { timeoutMs: TIMEOUT_MS })).data,
  view: (_data, _words, { found: { paused, next_day } }) =>
    paused
      ? 'Sending was already paused.'
      : `Sending is paused. This holds ${count(next_day, 'draft')} of the next 24 hours. Resume: beckon resume`,
});

export const resume = call('POST /projects/:project/resume', 'resume', {
  help: 'Resume sending in a project. Expired drafts are canceled; overdue drafts are spread over time.',
  ...lookUp(EFFECT_OF_RESUME),
  confirm: (_input, { needs_confirmation, long_held, open, expired, overdue, held }) =>
    needs_confirmation
      ? `${count(open, 'draft')} are open: ${expired} expired, ${overdue} overdue or due soon, ${held} held. ` +
        `${long_held} were held for more than a day. Resume sending?`
      : null,
  body: (_input, { needs_confirmation, long_held }) => (needs_confirmation ? { confirmed: long_held } : {}),
  view: ({ canceled, postponed }) =>
    `Sending is resumed. ${count(canceled, 'expired draft')} canceled. ` +
    `${count(postponed, 'overdue draft')} sent in 15 minutes at the earliest.`,
});
