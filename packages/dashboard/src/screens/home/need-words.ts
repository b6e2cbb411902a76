import type { Counted, Need } from '@beckon/contract/dashboard';
import { reasonWords } from '../../parts/policy-words.ts';

/** `tone`: how bad it is if nobody comes. `at`: a moment that belongs to it, shown as a time. */
export type NeedShown = {
  key: string;
  tone: 'bad' | 'warn' | 'info';
  title: string;
  detail: string | null;
  at: string | null;
  to: NeedTarget;
  action: string;
};

export type NeedTarget =
  | { page: 'review'; draft?: string; filter?: string }
  | { page: 'emails'; filter: string }
  | { page: 'policy' | 'sender' | 'domains' | 'system' }
  | { page: 'endpoint' | 'rule'; id: string };

const DOMAIN_STATES: Record<string, string> = {
  degraded: 'The last look at its records found a fault. If it lasts, its letters are held.',
  failed: 'Its records are not in the DNS any more. Its letters are held until they are back.',
  pending: 'Its records were not seen in the DNS yet.',
};
const TROUBLES = {
  gone: 'It answered that it is gone, and is told nothing more until you enable it.',
  failing: 'It took nothing for five days, and is told nothing more until you enable it.',
  warned: 'It takes nothing. After five days of that it is disabled.',
};

/** What a person should look at, in words, and where they go for it. */
export function needWords(need: Need): NeedShown {
  const show = SHOWS[need.kind] as (of: Need) => Omit<NeedShown, 'key'>;
  return { key: keyOf(need), ...show(need) };
}

type Shows = { [K in Need['kind']]: (need: Extract<Need, { kind: K }>) => Omit<NeedShown, 'key'> };

const SHOWS: Shows = {
  paused: () => ({
    tone: 'warn',
    title: 'Sending is paused',
    detail: 'Nothing leaves. Events are accepted, and letters drafted.',
    at: null,
    to: { page: 'policy' },
    action: 'Open the policy',
  }),
  sender: ({ reason, detail }) => ({
    tone: 'bad',
    title: reason === 'no_sender' ? 'The sender is not complete' : 'Letters may not leave as this sender',
    detail: `${detail.charAt(0).toUpperCase()}${detail.slice(1)}.`,
    at: null,
    to: { page: reason === 'domain' ? 'domains' : 'sender' },
    action: reason === 'domain' ? 'Open Domains' : 'Open Sender',
  }),
  due_soon: ({ drafts, first }) => ({
    tone: 'info',
    title: `${letters(drafts)} ${drafts.count === 1 ? 'reaches its' : 'reach their'} deadline within an hour`,
    detail: `The first is “${first.subject}” to ${first.external_user_id}, by ${first.rule}.`,
    at: first.deadline_at,
    to: { page: 'review', draft: first.draft_id },
    action: 'Review',
  }),
  held: ({ drafts, reasons }) => ({
    tone: 'warn',
    title: `${letters(drafts)} ${drafts.count === 1 ? 'is' : 'are'} held until somebody does something`,
    detail: `${reasons.map(({ reason, drafts: count }) => `${count} by ${reasonWords(reason)}`).join(', ')}.`,
    at: null,
    to: { page: 'review', filter: 'state:held' },
    action: 'Look at them',
  }),
  failed: ({ failed, unknown, at_least }) => ({
    tone: 'bad',
    title: failedTitle(failed, unknown, at_least),
    detail: 'Of the last seven days, and not sent again.',
    at: null,
    to: { page: 'emails', filter: failed > 0 ? 'state:failed' : 'state:unknown' },
    action: 'See why',
  }),
  domain: ({ name, state, paused }) => ({
    tone: paused !== null || state === 'failed' ? 'bad' : 'warn',
    title: paused === null ? `The domain ${name} has a fault` : `The domain ${name} is paused`,
    detail:
      paused === null
        ? (DOMAIN_STATES[state] ?? null)
        : `Why: ${paused}. Its letters are held until you resume it.`,
    at: null,
    to: { page: 'domains' },
    action: 'Open Domains',
  }),
  endpoint: ({ id, url, problem: trouble, since }) => ({
    tone: trouble === 'warned' ? 'warn' : 'bad',
    title: `The webhook endpoint ${url} fails`,
    detail: TROUBLES[trouble],
    at: since,
    to: { page: 'endpoint', id },
    action: 'See its attempts',
  }),
  rule_demoted: ({ id, name, why }) => ({
    tone: 'warn',
    title: `The rule ${name} does not send by itself any more`,
    detail: `Because of ${why}. Its drafts wait for you.`,
    at: null,
    to: { page: 'rule', id },
    action: 'Open the rule',
  }),
  dead_letters: ({ records }) => ({
    tone: 'warn',
    title: `${counted(records)} accepted ${records.count === 1 ? 'record' : 'records'} could not be applied`,
    detail: 'They stand in nobody’s way, and can be tried again.',
    at: null,
    to: { page: 'system' },
    action: 'Open System',
  }),
  queue: ({ waiting, waiting_max }) => ({
    tone: 'bad',
    title: `The queue is nearly full: ${number(waiting)} of ${number(waiting_max)} records wait`,
    detail: 'When it is full, bulk imports are refused until there is room.',
    at: null,
    to: { page: 'system' },
    action: 'Open System',
  }),
};

function keyOf(need: Need): string {
  if (need.kind === 'domain') return `domain ${need.name}`;
  return need.kind === 'endpoint' || need.kind === 'rule_demoted' ? `${need.kind} ${need.id}` : need.kind;
}

function failedTitle(failed: number, unknown: number, isMore: boolean): string {
  const parts = [
    ...(failed > 0 ? [`${letters({ count: failed, at_least: isMore })} failed`] : []),
    ...(unknown > 0 ? [`${letters({ count: unknown, at_least: isMore })} may have left, or not`] : []),
  ];
  return parts.join(', ');
}

function letters(of: Counted): string {
  return `${counted(of)} ${of.count === 1 ? 'letter' : 'letters'}`;
}

function counted({ count, at_least: isMore }: Counted): string {
  return isMore ? `More than ${number(count)}` : number(count);
}

function number(count: number): string {
  return count.toLocaleString('en');
}
