import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { afterProbe, missOf, newTracking, probeResponse, probeToken } from './tracking.ts';
import type { Tracking } from './domain.ts';
import { linksBaseOf } from '../../delivery/compose-email.ts';

const NOW = Date.UTC(2026, 0, 15, 12);
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const domain = { name: 'mail.acme.test' };
const fresh = newTracking(domain, 't.mail.acme.test', NOW);
const PUBLIC = 'https://beckon.test';

test('accepts a host below the domain and normalizes it to the form used in DNS', () => {
  expect(newTracking(domain, ' T.Mail.ACME.test. ', NOW).host).toBe('t.mail.acme.test');
  expect(newTracking(domain, 'klick.für.mail.acme.test', NOW).host).toBe('klick.xn--fr-xka.mail.acme.test');
});

test.each([
  '',
  'mail.acme.test',
  'acme.test',
  't.acme.test',
  't.other.test',
  'tmail.acme.test',
  '.mail.acme.test',
  'a..mail.acme.test',
  '-t.mail.acme.test',
  'a b.mail.acme.test',
  'https://t.mail.acme.test',
  't.mail.acme.test/x',
  't.mail.acme.test:8443',
  '*.mail.acme.test',
  'bounce.mail.acme.test',
  '_dmarc.mail.acme.test',
  'x._domainkey.mail.acme.test',
  `${'a.'.repeat(130)}mail.acme.test`,
])('rejects %j', (host) => expect(() => newTracking(domain, host, NOW)).toThrow());

describe('linksBaseOf', () => {
  const states = ['pending', 'working', 'failed'] as const;
  test.each(states)('uses the tracking host only while it works: %s', (state) => {
    const base = linksBaseOf({ tracking: { ...fresh, state } }, PUBLIC);
    expect(base).toBe(state === 'working' ? 'https://t.mail.acme.test' : PUBLIC);
    expect(linksBaseOf({ tracking: null }, PUBLIC)).toBe(PUBLIC);
  });
});

test('works after one correct answer and fails after three wrong ones in a row, in any state', () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { maxLength: 40 }), (looks) => {
      let [tracking, now, misses]: [Tracking, number, number] = [fresh, NOW, 0];
      for (const isRight of looks) {
        const before = tracking;
        tracking = afterProbe(before, isRight ? null : 'no answer', now);
        misses = isRight ? 0 : misses + 1;
        const state = isRight ? 'working' : misses >= 3 ? 'failed' : before.state;
        expect(tracking).toMatchObject({ state, misses, found: isRight ? null : 'no answer' });
        expect(tracking.checkedAt ?? 0).toBeGreaterThan(before.checkedAt ?? 0);
        expect(tracking.nextAt).toBeGreaterThanOrEqual(now + MINUTE);
        expect(tracking.nextAt).toBeLessThanOrEqual(now + DAY);
        now = tracking.nextAt;
      }
    }),
  );
});

test('probes a host without success often at first and daily after three days, and a working host every ten minutes', () => {
  const waitAt = (tracking: Tracking, miss: string | null, now: number) =>
    afterProbe(tracking, miss, now).nextAt - now;
  expect(waitAt(fresh, 'no', NOW)).toBe(MINUTE);
  expect(waitAt(fresh, 'no', NOW + 20 * MINUTE)).toBe(5 * MINUTE);
  expect(waitAt(fresh, 'no', NOW + DAY)).toBe(60 * MINUTE);
  expect(waitAt(fresh, 'no', NOW + 3 * DAY)).toBe(DAY);
  const working = afterProbe(fresh, null, NOW + 100 * DAY);
  expect(working.nextAt).toBe(NOW + 100 * DAY + 10 * MINUTE);
  // A host that stops working is probed often again, however old it is.
  let stopped = working;
  for (let n = 0; n < 3; n += 1) {
    expect(waitAt(stopped, 'no', stopped.nextAt)).toBe(MINUTE);
    stopped = afterProbe(stopped, 'no', stopped.nextAt);
  }
  expect(stopped).toMatchObject({ state: 'failed', since: NOW + 100 * DAY + 12 * MINUTE });
});

describe('probe token', () => {
  const keys = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)] as const;
  const target = { projectId: 7, id: '01890000-0000-7000-8000-000000000000', host: 't.mail.acme.test' };
  const token = probeToken(target, keys);

  test('differs between projects, domains, hosts and installations', () => {
    const others = [
      probeToken({ ...target, projectId: 8 }, keys),
      probeToken({ ...target, id: '01890000-0000-7000-8000-000000000001' }, keys),
      probeToken({ ...target, host: 'u.mail.acme.test' }, keys),
      probeToken(target, [keys[1]]),
    ];
    const responses = others.map((other) => probeResponse(other, keys));
    expect(new Set([token, ...others]).size).toBe(5);
    expect(new Set([probeResponse(token, keys), ...responses]).size).toBe(5);
  });

  test('is not its own answer, and a self-made token gets no answer', () => {
    const response = probeResponse(token, keys) ?? '';
    expect(response).toMatch(/^[\w-]{22}$/);
    expect(token).not.toContain(response);
    expect(probeResponse(token, [Buffer.alloc(32, 3)])).toBeNull();
    fc.assert(
      fc.property(
        fc.nat(token.length - 1),
        fc.constantFrom('a', 'b', 'Z', '0', '9', '-', '_', '.', ' '),
        (at, sign) => {
          const forged = token.slice(0, at) + sign + token.slice(at + 1);
          expect(probeResponse(forged, keys)).toBe(forged === token ? response : null);
        },
      ),
    );
  });

  test('is still answered after a change of the secret', () => {
    const next = [Buffer.alloc(32, 4), ...keys] as const;
    expect(probeResponse(token, next)).toBe(probeResponse(token, keys));
  });

  test('counts only that answer with status 200', () => {
    const body = probeResponse(token, keys) ?? '';
    const response = { ok: true, status: 200, retryAfter: null, body, file: null, ms: 1 } as const;
    expect(missOf(response, body)).toBeNull();
    expect(missOf({ ...response, body: `${body}\n` }, body)).toBeNull();
    expect(missOf({ ...response, status: 302 }, body)).toContain('302');
    expect(missOf({ ...response, body: token }, body)).toContain('points to another server');
    expect(missOf({ ok: false, error: 'dns', detail: 'The DNS has no address', ms: 1 }, body)).toBe(
      'The DNS has no address',
    );
  });
});
