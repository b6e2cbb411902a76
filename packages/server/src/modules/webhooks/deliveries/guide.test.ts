import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BOUNCE_CLASSES, UNSUBSCRIBE_METHODS, WEBHOOK_TYPES } from '@beckon/contract';
import type { WebhookEvent, WebhookType } from '@beckon/contract';
import { expect, test } from 'vitest';
import { TEST_TYPE } from './webhook.ts';

const guide = readFileSync(join(import.meta.dirname, '../../../../../../docs/reference/webhooks.md'), 'utf8');

test('docs/reference/webhooks.md names every type, class and method', () => {
  const names = [...WEBHOOK_TYPES, TEST_TYPE, ...BOUNCE_CLASSES, ...UNSUBSCRIBE_METHODS];
  expect(names.filter((name) => !guide.includes(`\`${name}\``))).toEqual([]);
});

test('has examples that match the bodies as sent', () => {
  const about = ['external_user_id', 'email_id', 'draft_id', 'rule', 'occurred_at'] as const;
  const examples = [...guide.matchAll(/```json\n(.*?)```/gs)].map(
    ([, text]) => JSON.parse(text ?? '') as unknown,
  );
  expect(examples.length).toBeGreaterThan(1);
  for (const example of examples) {
    const { id, type, data } = example as WebhookEvent<WebhookType>;
    expect(id).toMatch(/^msg_[\da-f-]{36}$/);
    expect(WEBHOOK_TYPES).toContain(type);
    expect(Object.keys(example as object)).toEqual(['id', 'type', 'timestamp', 'livemode', 'data']);
    expect(Object.keys(data)).toEqual([...about, ...MORE[type]]);
  }
});

const MORE: Record<WebhookType, string[]> = {
  'email.opened': ['bot', 'bot_reason'],
  'email.clicked': ['bot', 'bot_reason', 'url'],
  'email.replied': ['snippet', 'auto_reply'],
  'email.bounced': ['bounce_class', 'status', 'reason', 'source'],
  'email.unsubscribed': ['method'],
};
