import { afterAll, describe, expect, test } from 'vitest';
import { relayContext, relayOutbound } from '../../../testing/factories/relay-context.ts';
import { startFakeRelay } from '../../../testing/servers/relays/fake-relay.ts';
import type { HttpRelayKind, ProviderSuppression, SuppressionPage } from './adapter.ts';
import { RELAY_ADAPTERS } from './adapters.ts';

const KINDS = (Object.keys(RELAY_ADAPTERS) as HttpRelayKind[]).filter(
  (kind) => RELAY_ADAPTERS[kind].suppressions,
);
const outbound = relayOutbound();
afterAll(() => outbound.close());

describe.each(KINDS)('%s › suppressions', (kind) => {
  const { suppressions } = RELAY_ADAPTERS[kind];

  test('returns all pages with the reason of each address', async () => {
    const relay = await startFakeRelay(kind);
    const found: ProviderSuppression[] = [];
    let cursor: string | null = null;
    do {
      const page: SuppressionPage | undefined = await suppressions?.(
        cursor,
        relayContext(relay.settings, outbound),
      );
      if (!page?.ok) throw new Error(page?.message);
      found.push(...page.suppressions);
      ({ cursor } = page);
    } while (cursor !== null);
    await relay.close();
    expect(found).toEqual([
      { address: 'bounced@home.test', reason: 'hard_bounce' },
      { address: 'spam@home.test', reason: 'complained' },
      ...(kind === 'postmark' ? [{ address: 'left@home.test', reason: 'unsubscribed' }] : []),
    ]);
  });

  test('reports a refused request', async () => {
    const relay = await startFakeRelay(kind);
    const settings = { ...relay.settings, api_key: 'x', server_token: 'x', secret_access_key: 'x' };
    const page = await suppressions?.(null, relayContext(settings, outbound));
    await relay.close();
    expect(page).toMatchObject({ ok: false, message: expect.stringMatching(/HTTP 40/) });
  });
});
