import type { Counted, Need } from '@beckon/contract/dashboard';
import { reasonWords } from '../../parts/policy-words.ts';

/** `tone`: the severity. `at`: the time of the event, if any. */
export type NeedText = {
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
  | {
      page: `settings/${'sending-policy' | 'sender' | 'domains' | 'system'}` | 'dead-letters';
    }
  | { page: 'endpoint' | 'relay' | 'rule'; id: string };

const DOMAIN_STATES: Record<string, string> = {
  degraded: 'The last check found a wrong DNS record. If this continues, emails from this domain are held.',
  failed: 'A required DNS record is missing. Emails from this domain are held until it is restored.',
  pending: 'Its DNS records were not found yet.',
};
const ENDPOINT_PROBLEMS = {
  gone: 'It responded 410 Gone and is disabled. Enable it to resume deliveries.',
  failing: 'All deliveries failed for five days, so it is disabled. Enable it to resume deliveries.',
  warned: 'All deliveries fail. It is disabled after five days of failures.',
};

/** Describes a problem that needs attention, and links to its screen. */
export function needWords(need: Need): NeedText {
  const show = SHOWS[need.kind] as (of: Need) => Omit<NeedText, 'key'>;
  return { key: keyOf(need), ...show(need) };
}

type Shows = { [K in Need['kind']]: (need: Extract<Need, { kind: K }>) => Omit<NeedText, 'key'> };

const SHOWS: Shows = {
  paused: () => ({
    tone: 'warn',
    title: 'Sending is paused',
    detail: 'No email is sent. Events are accepted and drafts are created.',
    at: null,
    to: { page: 'settings/sending-policy' },
    action: 'Open Sending policy',
  }),
  sender: ({ reason, detail }) => ({
    tone: 'bad',
    title: reason === 'no_sender' ? 'The sender is incomplete' : 'Emails cannot be sent from this sender',
    detail: `${detail.charAt(0).toUpperCase()}${detail.slice(1)}.`,
    at: null,
    to: { page: reason === 'domain_not_ready' ? 'settings/domains' : 'settings/sender' },
    action: reason === 'domain_not_ready' ? 'Open Domains' : 'Open Sender',
  }),
  due_today: ({ drafts, soon, filter, first }) => ({
    tone: 'info',
    title: `${drafted(drafts)} ${drafts.count === 1 ? 'reaches its' : 'reach their'} deadline today`,
    detail: `${soon.count > 0 && drafts.count > 1 ? `${counted(soon)} of them within an hour. ` : ''}The first is “${first.subject}” to ${first.external_user_id}, from the rule ${first.rule}.`,
    at: first.deadline_at,
    to: { page: 'review', draft: first.draft_id, filter },
    action: 'Review',
  }),
  held: ({ drafts, reasons }) => ({
    tone: 'warn',
    title: `${drafted(drafts)} ${drafts.count === 1 ? 'is held and needs' : 'are held and need'} attention`,
    detail: `${reasons.map(({ reason, drafts: count }) => `${count} ${reasonWords(reason)}`).join(', ')}.`,
    at: null,
    to: { page: 'review', filter: 'hold:action' },
    action: 'Review held drafts',
  }),
  failed: ({ failed, unknown, at_least, since }) => ({
    tone: 'bad',
    title: failedTitle(failed, unknown, at_least),
    detail: 'In the last seven days, and not resent.',
    at: null,
    to: { page: 'emails', filter: `state:failed,unknown resent:no ended:>${since}` },
    action: 'View emails',
  }),
  domain: ({ name, state, paused }) => ({
    tone: paused !== null || state === 'failed' ? 'bad' : 'warn',
    title: paused === null ? `DNS records of ${name} need attention` : `Sending from ${name} is paused`,
    detail:
      paused === null
        ? (DOMAIN_STATES[state] ?? null)
        : `Reason: ${paused}. Emails from this domain are held until you resume sending.`,
    at: null,
    to: { page: 'settings/domains' },
    action: 'Open Domains',
  }),
  endpoint: ({ id, url, problem, since }) => ({
    tone: problem === 'warned' ? 'warn' : 'bad',
    title: `The webhook endpoint ${url} is failing`,
    detail: ENDPOINT_PROBLEMS[problem],
    at: since,
    to: { page: 'endpoint', id },
    action: 'View attempts',
  }),
  relay_unproven: ({ id, name }) => ({
    tone: 'warn',
    title: `Bounces of the relay ${name} may be missed`,
    detail:
      id === null
        ? 'The provider reports them by webhook or API. Add its feedback; emails are still sent as before.'
        : 'No bounce or complaint of its emails has come back yet. Prove that they do before you rely on it.',
    at: null,
    to: { page: 'relay', id: id ?? 'new' },
    action: id === null ? 'Add feedback' : 'Open relay',
  }),
  rule_demoted: ({ id, name, why }) => ({
    tone: 'warn',
    title: `Autopilot is off for ${name}`,
    detail: `Reason: ${why}. Its drafts wait for approval.`,
    at: null,
    to: { page: 'rule', id },
    action: 'Open rule',
  }),
  dead_letters: ({ records }) => ({
    tone: 'warn',
    title: `${counted(records)} accepted ${records.count === 1 ? 'record' : 'records'} could not be processed`,
    detail: 'They are dead-lettered and do not block other records. Retry or discard them.',
    at: null,
    to: { page: 'dead-letters' },
    action: 'View records',
  }),
  queue: ({ waiting, waiting_max }) => ({
    tone: 'bad',
    title: `The queue is nearly full: ${number(waiting)} of ${number(waiting_max)} records`,
    detail: 'When it is full, bulk imports are refused until records are processed.',
    at: null,
    to: { page: 'settings/system' },
    action: 'Open System',
  }),
};

function keyOf(need: Need): string {
  if (need.kind === 'domain') return `domain ${need.name}`;
  return 'id' in need ? `${need.kind} ${need.id}` : need.kind;
}

function failedTitle(failed: number, unknown: number, isMore: boolean): string {
  const parts = [
    ...(failed > 0 ? [`${emails({ count: failed, at_least: isMore })} failed`] : []),
    ...(unknown > 0 ? [`${emails({ count: unknown, at_least: isMore })} with unknown delivery`] : []),
  ];
  return parts.join(', ');
}

function drafted(of: Counted): string {
  return `${counted(of)} ${of.count === 1 ? 'draft' : 'drafts'}`;
}

function emails(of: Counted): string {
  return `${counted(of)} ${of.count === 1 ? 'email' : 'emails'}`;
}

function counted({ count, at_least: isMore }: Counted): string {
  return isMore ? `More than ${number(count)}` : number(count);
}

function number(count: number): string {
  return count.toLocaleString('en');
}
