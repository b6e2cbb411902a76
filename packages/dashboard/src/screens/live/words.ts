import type { FeedItem, FeedType } from '@beckon/contract/dashboard';

export const TYPE_NAMES: Record<FeedType, string> = {
  request: 'Request',
  event: 'Event',
  draft: 'Draft',
  move: 'Move',
  email: 'Letter',
  outcome: 'Outcome',
  user_created: 'New user',
  user_changed: 'User changed',
  user_erased: 'User erased',
  audience_joined: 'Joined',
  audience_left: 'Left',
  audience_built: 'Audience built',
  bulk: 'Bulk',
};

/** What happened, in a line. All of it is text that others wrote, and shown as such. */
export function wordsOf(item: FeedItem): string {
  return Object.hasOwn(WORDS, item.type) ? (WORDS[item.type]?.(item) ?? '') : '';
}

/** Of what its type says all of, there is nothing to add. */
const WORDS: Partial<Record<FeedType, (item: FeedItem) => string>> = {
  request: requestWords,
  event: (item) => `${textOf(item['name'])}${item['suppressed'] === true ? ', triggers suppressed' : ''}`,
  draft: (item) => `${textOf(item['subject']) || 'a draft'} is ${textOf(item['state'])}${ruleOf(item)}`,
  move: (item) =>
    `${item.actor_name ?? textOf(item['actor'])}: ${spaced(item['action'])}, ${wayOf(item)}${ruleOf(item)}`,
  email: (item) => `${textOf(item['state'])}${ruleOf(item)}`,
  outcome: (item) => `${textOf(item['outcome']).replace('email.', '')}${ruleOf(item)}`,
  audience_joined: audienceOf,
  audience_left: audienceOf,
  audience_built: audienceOf,
  bulk: (item) =>
    Object.entries(item)
      .flatMap(([name, value]) => (typeof value === 'number' ? `${value} ${name}` : []))
      .join(', '),
};

function ruleOf({ rule }: FeedItem): string {
  return rule === undefined ? '' : ` (${rule})`;
}

function audienceOf(item: FeedItem): string {
  return textOf(item['audience']) || 'an audience that is deleted';
}

function requestWords(item: FeedItem): string {
  const count = Number(item['requests'] ?? 1);
  const times = count > 1 ? ` × ${count.toLocaleString('en-GB')}` : '';
  const code = textOf(item['code']);
  return `${textOf(item['endpoint'])} ${textOf(item['status'])}${times}${code === '' ? '' : `, ${code}`}`;
}

function wayOf(item: FeedItem): string {
  const [from, to] = [textOf(item['from']), textOf(item['to'])];
  const reason = textOf(item['reason']);
  const way = from === to ? `stays ${to}` : `${from} → ${to}`;
  return reason === '' ? way : `${way}, ${spaced(reason)}`;
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

function spaced(value: unknown): string {
  return textOf(value).replaceAll('_', ' ');
}
