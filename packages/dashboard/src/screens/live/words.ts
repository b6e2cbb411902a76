import type { FeedItem, FeedType } from '@beckon/contract/dashboard';
import { outcomeWords, spaced, stateWords } from '../../parts/codes.ts';
import { actionWords, draftReasonWords } from '../../parts/draft-words.ts';

export const TYPE_NAMES: Record<FeedType, string> = {
  request: 'Request',
  event: 'Event',
  draft: 'Draft',
  draft_changed: 'Status change',
  email: 'Email',
  outcome: 'Outcome',
  user_created: 'New user',
  user_changed: 'User changed',
  user_erased: 'User erased',
  audience_joined: 'Joined audience',
  audience_left: 'Left audience',
  audience_built: 'Audience built',
  bulk_change: 'Bulk change',
};

/** Summarizes an item in one line. Values are shown as plain text. */
export function wordsOf(item: FeedItem): string {
  return Object.hasOwn(WORDS, item.type) ? (WORDS[item.type]?.(item) ?? '') : '';
}

/** Types that need no summary. */
const WORDS: Partial<Record<FeedType, (item: FeedItem) => string>> = {
  request: requestWords,
  event: (item) =>
    `${textOf(item['name'])}${propertiesOf(item)}${item['suppressed'] === true ? ', triggers suppressed' : ''}`,
  draft: (item) =>
    `${textOf(item['subject']) || 'a draft'} is ${stateWords(textOf(item['state']))}${ruleOf(item)}`,
  draft_changed: (item) =>
    `${item.actor_name ?? actorOf(item)}: ${actionWords(textOf(item['action'])).toLowerCase()}, ${transitionOf(item)}${ruleOf(item)}`,
  email: (item) => `${stateWords(textOf(item['state']))}${ruleOf(item)}`,
  outcome: (item) => `${outcomeWords(textOf(item['outcome']))}${ruleOf(item)}`,
  audience_joined: audienceOf,
  audience_left: audienceOf,
  audience_built: audienceOf,
  bulk_change: (item) =>
    Object.entries(item)
      .flatMap(([name, value]) => (typeof value === 'number' ? `${value} ${name.replaceAll('_', ' ')}` : []))
      .join(', '),
};

const PROPERTIES_MAX = 3;

/** The first properties of an event: " · plan: pro, seats: 5". */
function propertiesOf({ properties }: FeedItem): string {
  if (typeof properties !== 'object' || properties === null) return '';
  const shown = Object.entries(properties).slice(0, PROPERTIES_MAX);
  const parts = shown.map(([name, value]) => `${name}: ${textOf(value) || JSON.stringify(value)}`);
  return parts.length === 0 ? '' : ` · ${parts.join(', ')}`;
}

function actorOf({ actor }: FeedItem): string {
  return actor === 'engine' ? 'Beckon' : textOf(actor);
}

function ruleOf({ rule }: FeedItem): string {
  return rule === undefined ? '' : ` (${rule})`;
}

function audienceOf(item: FeedItem): string {
  return textOf(item['audience']) || 'a deleted audience';
}

function requestWords(item: FeedItem): string {
  const count = Number(item['requests'] ?? 1);
  const times = count > 1 ? ` × ${count.toLocaleString('en-GB')}` : '';
  const code = textOf(item['code']);
  return `${textOf(item['endpoint'])} ${textOf(item['status'])}${times}${code === '' ? '' : `, ${spaced(code)}`}`;
}

function transitionOf(item: FeedItem): string {
  const [from, to] = [textOf(item['from']), textOf(item['to'])];
  const reason = textOf(item['reason']);
  const transition = from === to ? `stays ${stateWords(to)}` : `${stateWords(from)} → ${stateWords(to)}`;
  return reason === '' ? transition : `${transition}, ${draftReasonWords(reason)}`;
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
