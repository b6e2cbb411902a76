import { existsSync } from 'node:fs';
import type { Attack, Finding, Target } from './attack.ts';
import { dashboardRoutes, ENDLESS, OPEN_PAGES } from './routes.ts';
import { runTests } from './run-tests.ts';
import { JSON_BODY, OWNER, type Reply, type Victim } from './victim.ts';

const FOREIGN: Record<string, Record<string, string>> = {
  'another origin': { origin: 'https://evil.test' },
  'a null origin': { origin: 'null' },
  'an origin that begins like ours': { origin: 'http://localhost.evil.test' },
  'another port': { origin: 'http://localhost:1' },
  'https of ours': { origin: 'https://localhost' },
  'another site, by its own word': { 'sec-fetch-site': 'cross-site' },
  'a form of another site': {
    origin: 'https://evil.test',
    'content-type': 'application/x-www-form-urlencoded',
  },
  'a form of text': { origin: 'https://evil.test', 'content-type': 'text/plain' },
  neither: {},
};

export const s10: Attack = {
  id: 'S10',
  title: 'browsers: requests of other pages, cookies, policies, frames, stored scripts',
  passLine:
    'only our own page can change data; scripts cannot read cookies; no stored script runs on any screen',
  quick: false,
  async run(target) {
    const victim = await target.sharedVictim();
    const findings = [
      ...(await forgeRequests(target, victim)),
      ...(await readPages(target, victim)),
      ...(await readCookies(target)),
      ...(await runTests(target, [
        'packages/server/src/modules/workspace/dashboard-api/team-attack.test.ts',
        'packages/server/src/modules/workspace/dashboard-api/team-sign-in.test.ts',
        'packages/server/src/modules/review/emails/redact-email.test.ts',
        'packages/server/src/platform/http/static/app.test.ts',
      ])),
    ];
    if (!existsSync('/usr/bin/chromium')) {
      target.note('not installed: chromium, so no screen was opened');
      return findings;
    }
    return [
      ...findings,
      ...(await runTests(target, ['e2e/dashboard/hostile.test.ts'], 'e2e/vitest.config.ts')),
    ];
  },
};

/** Sends the requests that another site can make a browser send. The cookie is included, and nothing may change. */
async function forgeRequests(target: Target, victim: Victim): Promise<Finding[]> {
  const findings: Finding[] = [];
  const changes = dashboardRoutes.filter(({ key }) => !key.startsWith('GET '));
  for (const { key, isForPrograms } of changes)
    for (const [name, headers] of Object.entries(FOREIGN)) {
      const requestLine = key
        .replace(' ', ' /api/dashboard')
        .replace(':project', String(victim.projectId))
        .replaceAll(/:\w+/g, 'nothing');
      const { status, text } = await victim.send(requestLine, {
        headers: { ...JSON_BODY, cookie: victim.cookie, ...headers },
        body: '{}',
      });
      target.count('requests from another page');
      // Requests of programs come from no page, so they have no origin.
      const isOpen =
        isForPrograms === true && headers['origin'] === undefined && headers['sec-fetch-site'] === undefined;
      if (status < 400 || status >= 500 || (status !== 403 && status !== 415 && !isOpen))
        findings.push({ severity: 'high', title: `${key} from ${name}: ${status}`, evidence: text });
    }
  return findings;
}

/** Checks that no page can be framed, run inline scripts, be sniffed for its type, or be read by another origin. */
async function readPages(target: Target, victim: Victim): Promise<Finding[]> {
  const findings: Finding[] = [];
  const reads = dashboardRoutes
    .filter(({ key }) => key.startsWith('GET ') && !ENDLESS.has(key))
    .map(({ key }) =>
      key.slice(4).replace(':project', String(victim.projectId)).replaceAll(/:\w+/g, 'nothing'),
    )
    .map((path) => `/api/dashboard${path}`);
  for (const path of [...OPEN_PAGES, ...reads, '/nowhere', '/u/x', '/c/x/0']) {
    const { headers } = await victim.send(`GET ${path}`, {
      headers: { origin: 'https://evil.test', cookie: victim.cookie },
    });
    target.count('pages');
    const addFinding = (problem: string): void =>
      void findings.push({ severity: 'medium', title: `${path}: ${problem}` });
    const shared = Object.keys(headers).filter((name) => name.startsWith('access-control'));
    if (shared.length > 0)
      findings.push({ severity: 'high', title: `${path} may be read by others: ${shared.join()}` });
    if (headers['x-content-type-options'] !== 'nosniff') addFinding('its type may be guessed');
    if (!String(headers['content-type']).startsWith('text/html')) continue;
    const policy = String(headers['content-security-policy'] ?? '');
    if (!/default-src 'none'/.test(policy)) addFinding("the policy does not start with default-src 'none'");
    if (!/frame-ancestors 'none'/.test(policy)) addFinding('it may be framed');
    if (/script-src[^;]*'unsafe-(?:inline|eval)'|script-src[^;]*\*/.test(policy))
      addFinding('scripts in the page run');
    if (headers['referrer-policy'] === undefined) addFinding('it reveals the referrer');
  }
  return findings;
}

/** Checks cookies over HTTPS, as behind a proxy, and over plain HTTP on loopback. */
async function readCookies(target: Target): Promise<Finding[]> {
  const victim = await target
    .ownVictim({ PUBLIC_URL: 'https://beckon.test', TRUST_PROXY: '127.0.0.1' })
    .catch(() => null);
  const findings: Finding[] = [];
  if (!victim) return [{ severity: 'medium', title: 'no installation behind a proxy could be made' }];
  const proxied = { 'x-forwarded-proto': 'https', origin: 'https://beckon.test' };
  const signIn = (headers: Record<string, string>): Promise<Reply> =>
    victim.send('POST /api/dashboard/sign-in', {
      headers: { ...JSON_BODY, ...headers },
      body: JSON.stringify({ email: OWNER.email, password: OWNER.password }),
    });
  const reply = await signIn(proxied);
  const cookies = [reply.headers['set-cookie'] ?? []].flat().filter((line) => !/=;|max-age=0/i.test(line));
  target.count('cookies', cookies.length);
  if (cookies.length === 0)
    findings.push({ severity: 'medium', title: 'no cookie was set', evidence: reply.text });
  for (const cookie of cookies) {
    const rules: [string, RegExp][] = [
      ['has not the prefix __Host-', /^__Host-/],
      ['is not Secure', /;\s*secure/i],
      ['can be read by scripts', /;\s*httponly/i],
      ['goes along from other sites', /;\s*samesite=(?:lax|strict)/i],
      ['holds for another path', /;\s*path=\/(?:;|$)/i],
    ];
    for (const [label, rule] of rules)
      if (!rule.test(cookie))
        findings.push({
          severity: 'high',
          title: `a cookie ${label}`,
          evidence: cookie.replace(/=[^;]*/, '=...'),
        });
    if (/;\s*domain=/i.test(cookie)) findings.push({ severity: 'high', title: 'a cookie names a domain' });
    const value = /=([^;]*)/.exec(cookie)?.[1] ?? '';
    if (value.length < 22) findings.push({ severity: 'high', title: 'a session of less than 128 bits' });
  }
  const again = await signIn(proxied);
  if (JSON.stringify(again.headers['set-cookie']) === JSON.stringify(reply.headers['set-cookie']))
    findings.push({ severity: 'high', title: 'a second sign-in gives the same session' });
  return findings;
}
