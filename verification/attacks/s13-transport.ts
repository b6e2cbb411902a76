import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Attack, Finding, Target } from './attack.ts';
import { runTests } from './run-tests.ts';
import { hasTool, runTool } from './run-tool.ts';
import { newVictim } from './victim.ts';

const TLS = new URL('../../packages/server/testing/servers/tls', import.meta.url).pathname;
const GOOD_PROTOCOLS: ReadonlySet<string> = new Set(['TLSv1.2', 'TLSv1.3']);
const TESTSSL_S = 600;
const MAIL_SERVER = 'mail server';
const NOT_AEAD = 'a cipher without AEAD';
/** Checks that concern the certificate. It is a test certificate without a trusted issuer. */
const OF_THE_CERTIFICATE = /^(?:cert|OCSP|DNS_CAA|HSTS|HPKP|scan)/i;

export const s13: Attack = {
  id: 'S13',
  title: 'transport: TLS of HTTPS and of STARTTLS on the mail server',
  passLine:
    'no version below TLS 1.2, no cipher without forward secrecy and, on https, AEAD; no known vulnerability',
  quick: false,
  needs: ['sslscan'],
  async run(target) {
    const env = {
      PUBLIC_URL: 'https://localhost',
      TLS_CERT_FILE: join(TLS, 'names.crt'),
      TLS_KEY_FILE: join(TLS, 'names.key'),
    };
    const victim = await newVictim({ env, isSetUp: false });
    try {
      const web = `localhost:${victim.port}`;
      const findings = [
        ...(await scan(target, 'https', ['--no-colour', '--show-ciphers', '--xml=-', web])),
        ...(await scan(target, MAIL_SERVER, [
          '--no-colour',
          '--starttls-smtp',
          '--xml=-',
          `localhost:${victim.mailInPort}`,
        ])),
      ];
      if (hasTool('testssl')) findings.push(...(await testssl(target, web)));
      else target.note('not installed: testssl.sh; only sslscan was run');
      const tests = await runTests(target, [
        'packages/server/src/main/http/edge.test.ts',
        'packages/server/src/platform/http/transport.test.ts',
      ]);
      return [...findings, ...tests];
    } finally {
      await victim.remove();
    }
  },
};

type Element = Record<string, string>;

async function scan(target: Target, where: string, args: string[]): Promise<Finding[]> {
  const { output } = await runTool('sslscan', args, { seconds: 180, cwd: target.dir });
  const all = (name: string): Element[] =>
    [...output.matchAll(new RegExp(`<${name} ([^>]*?)/?>`, 'g'))].map(([, text = '']) =>
      Object.fromEntries([...text.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, key, value]) => [key, value])),
    );
  const ciphers = all('cipher').filter(({ status }) => status !== 'rejected');
  target.count('ciphers offered', ciphers.length);
  const problems = [
    ...(ciphers.length === 0 ? [`sslscan found no cipher at all: ${output.slice(0, 300)}`] : []),
    ...all('protocol').flatMap(({ type, version, enabled }) =>
      enabled === '1' && !GOOD_PROTOCOLS.has(`${type?.toUpperCase()}v${version}`)
        ? [`${type} ${version} is spoken`]
        : [],
    ),
    ...ciphers.flatMap(weakness),
    ...all('heartbleed').flatMap(({ vulnerable }) => (vulnerable === '1' ? ['heartbleed'] : [])),
    ...all('compression').flatMap(({ supported }) => (supported === '1' ? ['compression'] : [])),
    ...all('renegotiation').flatMap(({ supported, secure }) =>
      supported === '1' && secure !== '1' ? ['insecure renegotiation'] : [],
    ),
  ];
  return problems.map((title) => ({
    // Sending servers fall back to no encryption if they find no cipher suite that they support.
    severity: where === MAIL_SERVER && title.startsWith(NOT_AEAD) ? 'low' : 'high',
    title: `${where}: ${title}`,
  }));
}

function weakness({ sslversion = '', cipher = '', bits }: Element): string[] {
  if (!GOOD_PROTOCOLS.has(sslversion)) return [`${cipher} over ${sslversion}`];
  const isAead = /GCM|CHACHA20|CCM/.test(cipher);
  const isForward = sslversion === 'TLSv1.3' || /DHE/.test(cipher);
  if (!isForward || Number(bits) < 128) return [`a weak cipher: ${cipher}, ${bits} bits`];
  return isAead ? [] : [`${NOT_AEAD}: ${cipher}`];
}

type TestsslLine = { id: string; severity: string; finding: string };

/** Tests protocols, forward secrecy and known vulnerabilities. */
async function testssl(target: Target, where: string): Promise<Finding[]> {
  const out = join(target.dir, 'testssl.json');
  const { isTimedOut, output } = await runTool(
    'testssl',
    ['--quiet', '--warnings', 'off', '--color', '0', '-p', '-f', '-U', '--jsonfile', out, where],
    { seconds: TESTSSL_S, cwd: target.dir },
  );
  if (isTimedOut) target.note(`testssl was stopped after ${TESTSSL_S} s`);
  const text = readFileSync(out, 'utf8').trimEnd();
  // A truncated list has no closing bracket.
  const lines = JSON.parse(text.endsWith(']') ? text : `${text.replace(/,$/, '')}]`) as TestsslLine[];
  target.count('checks of testssl', lines.length);
  if (lines.length < 5)
    return [
      { severity: 'medium', title: 'testssl reported fewer than 5 checks', evidence: output.slice(-500) },
    ];
  return lines
    .filter(
      ({ id, severity }) =>
        !OF_THE_CERTIFICATE.test(id) && ['LOW', 'MEDIUM', 'HIGH', 'CRITICAL'].includes(severity),
    )
    .map(({ id, severity, finding }) => ({
      severity:
        severity === 'HIGH' || severity === 'CRITICAL' ? 'high' : severity === 'MEDIUM' ? 'medium' : 'low',
      title: `testssl: ${id}`,
      evidence: finding,
    }));
}
