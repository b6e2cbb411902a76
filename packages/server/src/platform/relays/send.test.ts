import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  relayContext,
  relayEmail,
  relayOutbound,
  RELAY_TOKEN,
} from '../../../testing/factories/relay-context.ts';
import { type FakeMode, type FakeRelay, startFakeRelay } from '../../../testing/servers/relays/fake-relay.ts';
import type { HttpRelayKind, RelayResult } from './adapter.ts';
import { RELAY_ADAPTERS } from './adapters.ts';

const KINDS = Object.keys(RELAY_ADAPTERS) as HttpRelayKind[];

let relay: FakeRelay;
let outbound: ReturnType<typeof relayOutbound>;

beforeEach(() => {
  outbound = relayOutbound({ connectMs: 1_000, totalMs: 1_500 });
});

afterEach(async () => {
  outbound.close();
  await relay.close();
});

async function send(kind: HttpRelayKind, ...modes: FakeMode[]): Promise<RelayResult> {
  relay = await startFakeRelay(kind);
  relay.modes.push(...modes);
  return RELAY_ADAPTERS[kind].send(await relayEmail(), relayContext(relay.settings, outbound));
}

describe.each(KINDS)('%s › send', (kind) => {
  const { idempotencyWindowMs } = RELAY_ADAPTERS[kind];

  test('submits the email with its token, its text and its headers', async () => {
    const { result } = await send(kind);
    expect(result.result).toBe('sent');
    const [email] = relay.emails;
    expect(relay.emails).toHaveLength(1);
    expect(email?.to).toBe('ada@example.test');
    expect(email?.token.replace('-', '.')).toBe(RELAY_TOKEN);
    expect(email?.content).toContain('Unsubscribe');
    expect(email?.content).toContain('https://beckon.acme.test/u/abc.def');
  });

  test('returns the id by which the provider reports outcomes', async () => {
    const { result } = await send(kind);
    const id = relay.emails[0]?.id.replaceAll(/[<>]/g, '');
    // The answer of SendGrid has no body, so only the token identifies an email.
    expect(result).toMatchObject({ relayId: kind === 'sendgrid' ? null : id });
  });

  test('fails an email that the provider refuses', async () => {
    const { result } = await send(kind, 'refuse_email');
    expect(result).toMatchObject({
      result: 'failed',
      bounce: { class: kind === 'postmark' ? 'hard' : 'policy' },
    });
    expect(relay.emails).toHaveLength(0);
  });

  test('defers an email if the account is refused', async () => {
    const { result } = await send(kind, 'refuse_account');
    expect(result).toMatchObject({ result: 'deferred', reason: 'relay_rejected', isRelayFault: true });
  });

  test('pauses for as long as a rate limit asks for', async () => {
    const { result, pauseMs } = await send(kind, 'rate_limit');
    expect(result).toMatchObject({ result: 'deferred', isRelayFault: true });
    expect(pauseMs).toBe(7_000);
  });

  test.each(['server_error', 'cut', 'cut_after', 'hang'] as const)(
    'leaves the email unknown after: %s',
    async (mode) => {
      const { result } = await send(kind, mode);
      expect(result.result).toBe('unknown');
      expect(relay.emails).toHaveLength(mode === 'cut_after' ? 1 : 0);
    },
  );

  test('does not read an oversized answer', async () => {
    const { result } = await send(kind, 'huge');
    // Only the body of Postal says whether the email was accepted.
    expect(result.result).toBe(kind === 'postal' ? 'unknown' : 'sent');
  });

  test('defers an email if the connection never opened', async () => {
    relay = await startFakeRelay(kind);
    const context = relayContext(relay.settings, outbound);
    const email = await relayEmail();
    const other = await startFakeRelay(kind);
    await relay.close();
    relay = other;
    const { result } = await RELAY_ADAPTERS[kind].send(email, context);
    expect(result).toMatchObject({ result: 'deferred', reason: 'relay_unreachable', isRelayFault: true });
  });

  test.runIf(idempotencyWindowMs !== null)('never sends an email twice with the same key', async () => {
    relay = await startFakeRelay(kind);
    relay.modes.push('cut_after');
    const context = relayContext(relay.settings, outbound);
    const email = await relayEmail();
    const first = await RELAY_ADAPTERS[kind].send(email, context);
    const second = await RELAY_ADAPTERS[kind].send(email, context);
    expect(first.result.result).toBe('unknown');
    // Brevo answers a repeated key with an error that does not say what became of the first request.
    expect(second.result.result).toBe(kind === 'brevo' ? 'unknown' : 'sent');
    expect(relay.emails).toHaveLength(1);
    expect(relay.submissions).toBe(2);
  });

  test('sends to no private address through the guarded client', async () => {
    relay = await startFakeRelay(kind);
    const guarded = relayOutbound({ allowPrivate: false });
    const { result } = await RELAY_ADAPTERS[kind].send(
      await relayEmail(),
      relayContext(relay.settings, guarded),
    );
    guarded.close();
    expect(result).toMatchObject({ result: 'deferred', reason: 'relay_rejected' });
    expect(relay.submissions).toBe(0);
  });
});

describe.each(KINDS)('%s › check', (kind) => {
  test('accepts valid credentials', async () => {
    relay = await startFakeRelay(kind);
    expect(await RELAY_ADAPTERS[kind].check(relayContext(relay.settings, outbound))).toMatchObject({
      ok: true,
    });
  });

  test('names the field of wrong credentials', async () => {
    relay = await startFakeRelay(kind);
    const { fields } = RELAY_ADAPTERS[kind];
    const secret = fields.find(({ isSecret }) => isSecret)?.name ?? '';
    const settings = { ...relay.settings, [secret]: 'wrong' };
    const checked = await RELAY_ADAPTERS[kind].check(relayContext(settings, outbound));
    expect(checked).toMatchObject({ ok: false, field: kind === 'ses' ? 'access_key_id' : secret });
  });

  test('reports a provider that is not reachable', async () => {
    relay = await startFakeRelay(kind);
    const { url, provider, settings } = relay;
    await relay.close();
    const unreachable = relayContext({ ...settings, [provider.urlField]: url }, outbound);
    relay = await startFakeRelay(kind);
    expect(await RELAY_ADAPTERS[kind].check(unreachable)).toMatchObject({ ok: false });
  });
});

describe.each(KINDS.filter((kind) => kind !== 'postal' && kind !== 'postmark'))('%s › records', (kind) => {
  test('returns the DKIM records of the provider', async () => {
    relay = await startFakeRelay(kind);
    const domain = kind === 'mailgun' ? 'mg.acme.test' : 'acme.test';
    const found = await RELAY_ADAPTERS[kind].records(domain, relayContext(relay.settings, outbound));
    expect(found.isComplete).toBe(true);
    expect(found.records.filter(({ purpose }) => purpose === 'dkim').length).toBeGreaterThan(0);
    for (const { name } of found.records) expect(name.endsWith(domain)).toBe(true);
  });
});
