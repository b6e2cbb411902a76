import type { FeedItem, FeedType } from '@beckon/contract/dashboard';
import { printable } from './output/printable.ts';
import { plain, type Words } from './output/words.ts';

/** An entry of the activity stream on one line: time, type, user and what happened. */
export function feedLine(item: FeedItem, { at, paint }: Words): string {
  const name = plain(item.type).padEnd(NAME_WIDTH);
  const words = Object.hasOwn(WORDS, item.type) ? (WORDS[item.type]?.(item) ?? '') : '';
  const about = item.external_user_id === undefined ? '' : `${printable(item.external_user_id)}  `;
  return `${paint('dim', at(item.at))}  ${paint('bold', printable(name))}  ${about}${printable(words)}`.trimEnd();
}

const NAME_WIDTH = 'audience joined'.length;

const WORDS: Partial<Record<FeedType, (item: FeedItem) => string>> = {
  request: requestWords,
  event: (item) => `${textOf(item['name'])}${item['suppressed'] === true ? ', triggers suppressed' : ''}`,
  draft: (item) => `“${textOf(item['subject']) || 'a draft'}” is ${textOf(item['state'])}${ruleOf(item)}`,
  draft_changed: (item) =>
    `${item.actor_name ?? textOf(item['actor'])}: ${transitionOf(item)}${ruleOf(item)}`,
  email: (item) => `${textOf(item['state'])}${ruleOf(item)}`,
  outcome: (item) => `${textOf(item['outcome']).replace('email.', '')}${ruleOf(item)}`,
  audience_joined: (item) => textOf(item['audience']),
  audience_left: (item) => textOf(item['audience']),
  audience_built: (item) => textOf(item['audience']),
  bulk_change: countsOf,
};

function requestWords(item: FeedItem): string {
  const times = Number(item['requests'] ?? 1);
  const code = textOf(item['code']);
  const many = times > 1 ? ` × ${times}` : '';
  return `${textOf(item['endpoint'])} ${textOf(item['status'])}${many}${code === '' ? '' : `, ${code}`}`;
}

function countsOf(item: FeedItem): string {
  const counts = Object.entries(item).filter(([, value]) => typeof value === 'number');
  return counts.map(([name, value]) => `${String(value)} ${plain(name)}`).join(', ');
}

function ruleOf({ rule }: FeedItem): string {
  return rule === undefined ? '' : ` (${rule})`;
}

function transitionOf(item: FeedItem): string {
  const [action, from, to] = [textOf(item['action']), textOf(item['from']), textOf(item['to'])];
  const transition = from === to ? `stays ${to}` : `${from} → ${to}`;
  const reason = textOf(item['reason']);
  return [action, transition, reason]
    .filter((text) => text !== '')
    .join(', ')
    .replaceAll('_', ' ');
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
