import { afterAll, describe, expect, test } from 'vitest';
import {
  HOOK_TIME,
  relayContext,
  relayOutbound,
  RELAY_TOKEN,
} from '../../../testing/factories/relay-context.ts';
import { startFakeRelay } from '../../../testing/servers/relays/fake-relay.ts';
import { headersOf } from '../../../testing/servers/relays/provider.ts';
import type { HttpRelayKind } from './adapter.ts';
import { RELAY_ADAPTERS } from './adapters.ts';

const KINDS = (Object.keys(RELAY_ADAPTERS) as HttpRelayKind[]).filter((kind) => RELAY_ADAPTERS[kind].smtp);
const outbound = relayOutbound();
afterAll(() => outbound.close());

describe.each(KINDS)('%s › email by SMTP', (kind) => {
  test('returns the token of its header with each event', async () => {
    const { smtp, webhook } = RELAY_ADAPTERS[kind];
    const fake = await startFakeRelay(kind);
    const raw = [...(smtp?.headers(RELAY_TOKEN, {}) ?? []), 'Subject: Welcome', '', 'Hello'].join('\r\n');
    const read = fake.provider.readSmtp?.(headersOf(raw));
    if (!read || !webhook) throw new Error(`${kind} reads no email by SMTP`);
    const email = { id: '1571', to: 'ada@example.test', key: null, content: '', ...read };
    const event = {
      id: 'event-1',
      kind: 'bounced',
      email,
      text: '550 5.1.1 unknown',
      at: HOOK_TIME,
    } as const;
    const hook = fake.provider.hook(event, HOOK_TIME);
    expect(await webhook.verify(hook, relayContext(fake.settings, outbound, HOOK_TIME))).toBe('valid');
    expect(webhook.parse(hook)).toMatchObject([{ kind: 'bounced', token: RELAY_TOKEN }]);
    await fake.close();
  });

  test('has header lines of at most 998 characters without a line end', () => {
    const lines = RELAY_ADAPTERS[kind].smtp?.headers(RELAY_TOKEN, { configuration_set: 'beckon' }) ?? [];
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) expect(line).toMatch(/^[A-Za-z-]+: [\u0020-\u007e]{1,900}$/);
  });
});
