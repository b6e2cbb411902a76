import { randomBytes } from 'node:crypto';
import type { Attack, Finding } from './attack.ts';
import { runTests } from './run-tests.ts';
import type { Reply, Victim } from './victim.ts';

const TARGETS = [
  'https://evil.test/',
  '//evil.test',
  '/\\evil.test',
  'javascript:alert(1)',
  'data:text/html,x',
  '%2f%2fevil.test',
  'https:evil.test',
  '\\\\evil.test',
  'https://localhost@evil.test',
  '\t//evil.test',
  '%0d%0aLocation:%20https://evil.test',
];
const PARAMETERS = [
  'url',
  'u',
  'to',
  'next',
  'redirect',
  'redirect_uri',
  'return',
  'target',
  'continue',
  'r',
];

export const s09: Attack = {
  id: 'S9',
  title: 'links in emails: forged, changed, and used as open redirects',
  passLine: 'a forged link opens nothing; every Location is our own or from an email, never from a request',
  quick: true,
  async run(target) {
    const victim = await target.sharedVictim();
    const { token, findings } = await readEmail(victim);
    const tokens = [
      ...forgedTokens(token),
      ...Array.from({ length: 50 }, () => randomBytes(45).toString('base64url')),
    ];
    const paths = tokens.flatMap((linkToken) => [
      `/o/${linkToken}.gif`,
      `/c/${linkToken}/0`,
      `/u/${linkToken}`,
      `/.well-known/beckon/${linkToken}`,
    ]);
    const before = await outcomes(victim);
    for (const path of paths)
      for (const method of ['GET', 'POST']) {
        const reply = await victim.send(`${method} ${path}`, { headers: { host: 'evil.test' } });
        target.count('forged links');
        findings.push(...checkForged(`${method} ${path}`, reply));
      }
    const redirectPaths = [
      '/',
      '/sign-in',
      '/projects',
      '/guide',
      '/docs',
      '/c/x/0',
      '/u/x',
      '/api/v1/events',
      '/api/dashboard/session',
    ];
    for (const redirectPath of redirectPaths)
      for (const parameter of PARAMETERS)
        for (const to of TARGETS) {
          const requestLine = `GET ${redirectPath}?${parameter}=${encodeURI(to).replaceAll('#', '%23')}`;
          const reply = await victim.send(requestLine, {
            headers: { host: 'evil.test', 'x-forwarded-host': 'evil.test' },
          });
          target.count('redirects requested by strangers');
          findings.push(...checkLocation(victim, requestLine, reply));
        }
    for (const to of TARGETS) {
      const reply = await victim.send(`GET /${encodeURI(to)}`, {});
      target.count('redirects requested by strangers');
      findings.push(...checkLocation(victim, `GET /${to}`, reply));
    }
    if ((await outcomes(victim)) !== before)
      findings.push({ severity: 'high', title: 'a forged link had an effect' });
    const tests = await runTests(target, [
      'packages/server/src/modules/inbound/tracking/track.test.ts',
      'packages/server/src/modules/inbound/preferences/preferences.test.ts',
      'packages/server/src/platform/crypto/email-token.test.ts',
    ]);
    return [...findings, ...tests];
  },
};

/** Returns a signed token of the form that our links have. Changing it does not require an email that it opens. */
async function readEmail(victim: Victim): Promise<{ token: string; findings: Finding[] }> {
  const { rows } = await victim.database((db) =>
    db.query<{ id: string }>('SELECT id FROM email ORDER BY id DESC LIMIT 1'),
  );
  const id = rows[0]?.id.replaceAll('-', '') ?? '019b00000000700080000000000000aa';
  return {
    token: Buffer.concat([Buffer.from(id, 'hex'), randomBytes(18)]).toString('base64url'),
    findings: [],
  };
}

function forgedTokens(token: string): string[] {
  const changed = Array.from(
    token,
    (sign, at) => token.slice(0, at) + (sign === 'A' ? 'B' : 'A') + token.slice(at + 1),
  );
  return [
    token,
    ...changed,
    token.slice(0, -1),
    `${token}A`,
    token.toUpperCase(),
    '',
    '../..',
    '%00',
    'x'.repeat(1_000),
  ];
}

async function outcomes(victim: Victim): Promise<string> {
  const { rows } = await victim.database((db) =>
    db.query<{ n: string }>(
      "SELECT (SELECT count(*) FROM outcome) || ' ' || (SELECT count(*) FROM suppression) AS n",
    ),
  );
  return rows[0]?.n ?? '';
}

function checkForged(requestLine: string, { status, headers, text }: Reply): Finding[] {
  if (headers['location'] !== undefined)
    return [
      { severity: 'high', title: `${requestLine.slice(0, 80)} leads to ${String(headers['location'])}` },
    ];
  if (status >= 500)
    return [{ severity: 'high', title: `${requestLine.slice(0, 80)} answers ${status}`, evidence: text }];
  return [];
}

function checkLocation(victim: Victim, requestLine: string, { status, headers, text }: Reply): Finding[] {
  const location = headers['location'];
  const findings: Finding[] = [];
  if (status >= 500)
    findings.push({ severity: 'high', title: `${requestLine} answers ${status}`, evidence: text });
  if (typeof location === 'string') {
    const at = new URL(location, victim.url);
    if (at.origin !== victim.url || at.protocol !== 'http:')
      findings.push({ severity: 'high', title: `${requestLine} leads to ${location}` });
  }
  return findings;
}
