import { gzipSync } from 'node:zlib';
import { costlyBodies } from '../../packages/server/testing/factories/costly-inputs.ts';
import type { Attack, Finding, Target } from './attack.ts';
import { bodyFor, dashboardRoutes, ENDLESS, liftLimits, publicRoutes } from './routes.ts';
import { runTests } from './run-tests.ts';
import { JSON_BODY, type Victim } from './victim.ts';

const utf16 = (text: string): Uint8Array => Buffer.from(`\uFEFF${text}`, 'utf16le');
const deep = (levels: number, [open, close]: [string, string]): string =>
  open.repeat(levels) + close.repeat(levels);

/** Bodies that are invalid in ways that have broken parsers. `BODY` is the placeholder of a valid body. */
const BODIES: Record<string, (validBody: string) => string | Uint8Array> = {
  nothing: () => '',
  'a word': () => 'null',
  'a number beyond a double': () => '1e400',
  'a negative zero': () => '-0',
  'a list 100,000 deep': () => deep(100_000, ['[', ']']),
  'an object 20,000 deep': () => deep(20_000, ['{"a":', '1}']).replace('1}1}', '1}}'),
  'a string without an end': () => '{"external_user_id":"',
  'a valid body with trailing data': (validBody) => `${validBody}{}`,
  'a valid body twice': (validBody) => validBody + validBody,
  'a valid body with a comment': (validBody) => `/* */${validBody}`,
  'a valid body with a trailing comma': (validBody) => validBody.replace(/\}$/, ',}'),
  'a byte order mark': (validBody) =>
    Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(validBody)]),
  'UTF-16': (validBody) => utf16(validBody),
  'UTF-16 without a mark': (validBody) => Buffer.from(validBody, 'utf16le'),
  'UTF-32': (validBody) =>
    Buffer.from(Array.from(validBody).flatMap((sign) => [sign.codePointAt(0) ?? 0, 0, 0, 0])),
  'invalid UTF-8': (validBody) =>
    Buffer.concat([Buffer.from(validBody.slice(0, -2)), Buffer.from([0xff, 0xfe, 0x22, 0x7d])]),
  'an overlong slash': (validBody) =>
    Buffer.concat([Buffer.from(validBody.slice(0, -2)), Buffer.from([0xc0, 0xaf, 0x22, 0x7d])]),
  'NUL in a text': (validBody) => validBody.replace(/:"[^"]*/, ':"a\\u0000b'),
  'a raw NUL': (validBody) => validBody.replace(/:"[^"]*/, ':"a\0b'),
  'half a surrogate': (validBody) => validBody.replace(/:"[^"]*/, ':"a\\ud800b'),
  'one key twice': (validBody) =>
    validBody.replace(/^\{/, '{"external_user_id":"first","external_user_id":"second",'),
  __proto__: (validBody) => validBody.replace(/^\{/, '{"__proto__":{"isAdmin":true,"accepted":false},'),
  'constructor.prototype': (validBody) =>
    validBody.replace(/^\{/, '{"constructor":{"prototype":{"isAdmin":true}},'),
  'an escaped __proto__': (validBody) => validBody.replace(/^\{/, '{"__pro\\u0074o__":{"isAdmin":true},'),
  '20,000 keys': () => `{${Array.from({ length: 20_000 }, (_, i) => `"k${i}":1`).join(',')}}`,
  'a key of 100,000 signs': () => `{"${'k'.repeat(100_000)}":1}`,
  'a number of 50,000 digits': () => `{"n":${'9'.repeat(50_000)}}`,
  'an exponent without an end': () => `{"n":1e${'9'.repeat(10_000)}}`,
  'a list of empty objects': () => `[${'{},'.repeat(60_000)}{}]`,
  'one key 20,000 times': () => `{${'"a":1,'.repeat(20_000)}"a":1}`,
  '100,000 zeros in a field': () => `{"n":[${'0,'.repeat(100_000)}0]}`,
  '260 kB of brackets in a field': () => `{"properties":${deep(130_000, ['[', ']'])}}`,
  'a form': () => 'external_user_id=u&name=n',
  XML: () => '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>',
  'a bag with __proto__': () =>
    '{"external_user_id":"polluter","name":"n","properties":{"__proto__":{"x":1},"constructor":{"prototype":{"y":2}}}}',
};

export const s05: Attack = {
  id: 'S5',
  title: 'JSON: depth, doubled keys, numbers, encodings, prototypes, NUL',
  passLine: 'every body on every route gets a status below 500, and no body reaches a prototype',
  quick: true,
  async run(target) {
    const victim = await target.sharedVictim();
    const { secret } = await victim.newKey(victim.projectId, 'json');
    await liftLimits(victim);
    const findings: Finding[] = [];
    const apiRoutes = (await publicRoutes(victim)).filter(({ path }) => path.startsWith('/api/'));
    const bearer = { authorization: `Bearer ${secret}` };
    const session = { cookie: victim.cookie, origin: victim.url };
    const routes = [
      ...apiRoutes.map(({ method, path }) => ({
        requestLine: `${method} ${path}`,
        headers: bearer,
        validBody: bodyFor(path, 'json'),
      })),
      ...dashboardRoutes
        .filter(({ key, isRaw }) => !key.startsWith('GET ') && isRaw !== true && !ENDLESS.has(key))
        // Signing out would end the session of all later requests.
        .filter(({ key }) => !/^POST .sign|^POST .setup/.test(key))
        .map(({ key }) => ({
          requestLine: key
            .replace(' ', ' /api/dashboard')
            .replace(':project', String(victim.projectId))
            .replaceAll(/:\w+/g, 'nothing'),
          headers: session,
          validBody: { name: 'json' },
        })),
    ];
    for (const { requestLine, headers, validBody } of routes)
      for (const [name, make] of Object.entries(BODIES)) {
        const body = make(JSON.stringify(validBody));
        const { status, text } = await victim
          .send(requestLine, { headers: { ...JSON_BODY, ...headers }, body })
          .catch((error: Error) => ({ status: 599, text: error.message }));
        target.count('bodies');
        if (status >= 500 || (status === 404 && requestLine.includes('/api/v1/')))
          findings.push({
            severity: 'high',
            title: `${requestLine} with ${name}: ${status}`,
            evidence: text,
          });
        if (/isAdmin|\bat .*\.ts:\d/.test(text) && status < 500)
          findings.push({
            severity: 'medium',
            title: `${requestLine} with ${name} reveals more than it should`,
            evidence: text,
          });
      }
    findings.push(...(await sendCostly(target, victim, { routes: apiRoutes, bearer })));
    const after = await victim.send('GET /readyz');
    if (after.status !== 200 || /isAdmin/.test(after.text))
      findings.push({ severity: 'high', title: 'it is not well afterwards', evidence: after.text });
    const tests = await runTests(target, [
      'packages/server/src/modules/ingest/api/bad-input.test.ts',
      'packages/server/src/modules/ingest/api/envelope.test.ts',
      'packages/server/src/modules/ingest/api/json-cost.test.ts',
      'packages/server/src/platform/text/json-scan.test.ts',
      'packages/server/src/modules/workspace/dashboard-api/hostile.test.ts',
      'packages/server/src/platform/records/record.test.ts',
    ]);
    return [...findings, ...tests];
  },
};

type Costly = { routes: { method: string; path: string }[]; bearer: Record<string, string> };

/** Sends bodies that are costly to parse. Each must be refused, and not by a server error. */
async function sendCostly(target: Target, victim: Victim, { routes, bearer }: Costly): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { method, path } of routes)
    for (const [name, text] of Object.entries(costlyBodies(path.includes('/users') ? 'users' : 'events'))) {
      const headers = { ...JSON_BODY, ...bearer, 'content-encoding': 'gzip' };
      const { status } = await victim
        .send(`${method} ${path}`, { headers, body: gzipSync(text) })
        .catch(() => ({ status: 599 }));
      target.count('costly bodies');
      if (status < 400 || status >= 500)
        findings.push({ severity: 'high', title: `${method} ${path} with ${name}: ${status}` });
    }
  return findings;
}
