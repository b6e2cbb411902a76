import { afterEach, describe, expect, test } from 'vitest';
import { relayContext, relayOutbound, RELAY_TOKEN } from '../../../testing/factories/relay-context.ts';
import { type FakeRelay, startFakeRelay } from '../../../testing/servers/relays/fake-relay.ts';
import type { FakeEvent } from '../../../testing/servers/relays/provider.ts';
import type { HttpRelayKind, RelayContext, RelayEvent } from './adapter.ts';
import { RELAY_ADAPTERS } from './adapters.ts';

const KINDS = (Object.keys(RELAY_ADAPTERS) as HttpRelayKind[]).filter((kind) => RELAY_ADAPTERS[kind].pull);
const NOW = Date.UTC(2026, 10, 28, 12);
const outbound = relayOutbound();
let relay: FakeRelay;

afterEach(() => relay.close());

function bounce(id: string, at: number): FakeEvent {
  const email = {
    id: `<${id}@acme.test>`,
    to: `${id}@example.test`,
    token: RELAY_TOKEN.replace('.', '-'),
    key: null,
    content: '',
  };
  return { id, kind: 'bounced', email, text: '550 5.1.1 unknown', at };
}

/** Reads until there is nothing more, as the job does. */
async function readAll(kind: HttpRelayKind, start: string | null, now: number) {
  const { pull } = RELAY_ADAPTERS[kind];
  const context: RelayContext = relayContext(relay.settings, outbound, now);
  const events: RelayEvent[] = [];
  let cursor = start;
  for (let page = 0; page < 50; page += 1) {
    const pulled = await pull?.(cursor, context);
    if (!pulled?.ok) throw new Error(pulled?.message);
    events.push(...pulled.events);
    cursor = pulled.cursor;
    await pulled.acknowledge?.();
    if (!pulled.hasMore) return { events, cursor };
  }
  throw new Error('it did not end');
}

describe.each(KINDS)('%s › pull', (kind) => {
  test('returns every event after the cursor, over several pages and in any order', async () => {
    relay = await startFakeRelay(kind);
    const first = await readAll(kind, null, NOW);
    expect(first.events).toEqual([]);
    // A queue returns ten messages at once, and a list hundreds.
    const ids = Array.from({ length: kind === 'ses' ? 45 : 1_200 }, (_, index) => `u${index}`);
    relay.events.push(...ids.map((id, index) => bounce(id, NOW + index * 1_000)).toReversed());
    const second = await readAll(kind, first.cursor, NOW + 3_600_000);
    const found = new Set(second.events.map(({ recipient }) => recipient?.split('@')[0]));
    expect(found).toEqual(new Set(ids));
  });

  test('returns an event that the provider lists late', async () => {
    relay = await startFakeRelay(kind);
    relay.events.push(bounce('early', NOW + 600_000));
    const first = await readAll(kind, (await readAll(kind, null, NOW)).cursor, NOW + 700_000);
    relay.events.push(bounce('late', NOW + 590_000));
    const second = await readAll(kind, first.cursor, NOW + 800_000);
    expect(second.events.map(({ recipient }) => recipient)).toContain('late@example.test');
  });

  test('keeps the cursor of a failed request', async () => {
    relay = await startFakeRelay(kind);
    const settings = {
      ...relay.settings,
      api_key: 'wrong',
      server_token: 'wrong',
      secret_access_key: 'wrong',
    };
    const failed = await RELAY_ADAPTERS[kind].pull?.(null, relayContext(settings, outbound, NOW));
    expect(failed).toMatchObject({ ok: false, message: expect.stringMatching(/HTTP 40/) });
  });
});
