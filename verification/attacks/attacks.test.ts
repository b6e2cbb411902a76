import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { RENDER_TASKS } from '../../packages/server/src/modules/rendering/pool/tasks.ts';
import { BOUNDED_PATTERNS } from './accepted.ts';
import { checkPublish, PUBLISHED_BODIES, REFUSED_BODIES } from './cost/drafting-inputs.ts';
import { checkStatuses } from './cost/input.ts';
import { expensiveInputs } from './cost/inputs.ts';
import { growthOf } from './cost/growth.ts';
import { ATTACKS } from './attacks.ts';
import { attackOf } from './fuzz/cost.ts';
import { mutate, randomFrom } from './fuzz/mutate.ts';
import { allPatterns, patternsOf } from './fuzz/patterns.ts';
import { mailPayloads } from './mail-payloads.ts';
import { resultOf, linesOf, skippedResult } from './report.ts';
import { checkLock, checkManifest } from './s16-supply.ts';
import { readTrace } from './sniff.ts';
import { URLS } from './url-corpus.ts';

const ATTACK = { id: 'S99', title: 'one', passLine: 'nothing' };

test('lists seventeen attacks, each once, and so does the documentation page', () => {
  const ids = Array.from({ length: 17 }, (_, n) => `S${n + 1}`);
  expect(ATTACKS.map(({ id }) => id)).toEqual(ids);
  const page = readFileSync(new URL('../../docs/explanation/proof.md', import.meta.url), 'utf8');
  expect([...page.matchAll(/^\| (S\d+) \|/gm)].map(([, id]) => id)).toEqual(ids);
});

test('does not mark an attack that needs an external tool as quick', () => {
  expect(ATTACKS.filter(({ quick, needs = [] }) => quick && needs.length > 0)).toEqual([]);
});

test('has corpora of the documented size without duplicates', () => {
  expect(new Set(URLS).size).toBe(URLS.length);
  expect(URLS.length).toBeGreaterThanOrEqual(60);
  expect(mailPayloads().length).toBeGreaterThanOrEqual(500);
});

test('fails an attack that has a finding, and one that sent no requests', () => {
  const attackResult = { counts: { requests: 1 }, notes: [], attackFindings: [] };
  expect(resultOf(ATTACK, attackResult).state).toBe('passed');
  expect(resultOf(ATTACK, { ...attackResult, attackFindings: [{ severity: 'low', title: 'x' }] }).state).toBe(
    'failed',
  );
  expect(resultOf(ATTACK, { ...attackResult, counts: {} }).state).toBe('failed');
  expect(resultOf(ATTACK, { ...attackResult, counts: { requests: 0 } }).state).toBe('failed');
  expect(linesOf(skippedResult(ATTACK, 'not installed: x'))).toContain('not installed: x');
});

test('reads every network connection from a trace, and nothing else', () => {
  const book = [
    '12 connect(21, {sa_family=AF_INET, sin_port=htons(443), sin_addr=inet_addr("169.254.169.254")}, 16) = -1 EINPROGRESS (Operation now in progress)',
    '12 connect(22, {sa_family=AF_INET6, sin6_port=htons(8443), sin6_flowinfo=htonl(0), inet_pton(AF_INET6, "::1", &sin6_addr), sin6_scope_id=0}, 28) = 0',
    '12 connect(23, {sa_family=AF_UNIX, sun_path="/tmp/x"}, 110) = 0',
    '13 +++ exited with 0 +++',
  ];
  expect(readTrace(book.join('\n'))).toEqual([
    { address: '169.254.169.254', port: 443 },
    { address: '::1', port: 8443 },
  ]);
});

test('mutates the same inputs for the same seed, within their size limit', () => {
  const inputs = (seed: number): string[] => {
    const mutator = {
      seeds: [Buffer.from('{"a":1}'), Buffer.from('b')],
      bytesMax: 50,
      random: randomFrom(seed),
    };
    return Array.from({ length: 200 }, () => mutate(mutator).toString('hex'));
  };
  expect(inputs(1)).toEqual(inputs(1));
  expect(inputs(1)).not.toEqual(inputs(2));
  expect(Math.max(...inputs(3).map((hex) => hex.length / 2))).toBe(50);
});

test('finds a regular expression at its place, and ignores text that only looks like one', () => {
  const code = 'const a = 1 / 2 / 3;\nconst b: RegExp = /(a|b)+$/u;\nconst c = "/x+/";\n';
  expect(patternsOf(code, 'a.ts')).toEqual([{ source: '(a|b)+$', flags: 'u', file: 'a.ts', line: 2 }]);
});

test('builds the worst text for a pattern up to its length, and every accepted pattern exists in the sources', () => {
  const report = {
    pumps: [
      { prefix: '<', pump: 'ab' },
      { prefix: '-', pump: 'c' },
    ],
    suffix: '!',
  };
  expect(attackOf(report, 13)).toBe('<abab-ccccc!');
  const sources = new Set(allPatterns().map(({ source }) => source));
  expect(BOUNDED_PATTERNS.filter(({ source }) => !sources.has(source))).toEqual([]);
});

test('finds a package without a checksum, from another source or with a script, and an inexact version', () => {
  const validEntry = { version: '1.0.0', integrity: 'sha512-x' };
  const lock = (entry: object): Parameters<typeof checkLock>[0] => ({
    lockfileVersion: 3,
    packages: { '': {}, 'packages/server': {}, 'node_modules/a': { ...validEntry, ...entry } },
  });
  expect(checkLock(lock({}), {})).toEqual([]);
  expect(checkLock(lock({ integrity: undefined }), {})).toHaveLength(1);
  expect(checkLock(lock({ resolved: 'git+ssh://x' }), {})).toHaveLength(1);
  expect(checkLock(lock({ hasInstallScript: true }), {})).toHaveLength(1);
  expect(checkLock(lock({ hasInstallScript: true }), { a: false })).toEqual([]);
  expect(checkManifest('', { dependencies: { a: '1.0.0' } }, lock({}))).toEqual([]);
  expect(checkManifest('', { dependencies: { a: '^1.0.0' } }, lock({}))).toHaveLength(1);
  expect(checkManifest('', { dependencies: { a: '1.0.1' } }, lock({}))).toHaveLength(1);
});

describe('checkStatuses', () => {
  const input = { expectedStatuses: [200], mayGet: [503] };
  const judged = (...statuses: [number, number][]): string[] => checkStatuses(input, new Map(statuses));

  test('accepts an input that arrived, even if a full queue refused some requests', () => {
    expect(judged([200, 22], [503, 8])).toEqual([]);
  });

  test('finds an input that never arrived', () => {
    const missed = 'no request is answered 200: the attack did not arrive';
    expect(judged([503, 30])).toEqual([missed]);
    expect(judged([422, 30])).toEqual(['30 requests are answered 422', missed]);
  });

  test('finds a request without an answer', () => {
    expect(judged([200, 29], [0, 1])).toEqual(['1 requests get no answer']);
  });
});

test('every expensive input names the statuses that it must get, and has a unique name', () => {
  const inputs = expensiveInputs();
  expect(inputs.filter(({ expectedStatuses }) => expectedStatuses.length === 0)).toEqual([]);
  expect(new Set(inputs.map(({ sender, name }) => `${sender}: ${name}`)).size).toBe(inputs.length);
});

describe('checkPublish', () => {
  const refusal = /at most 5,000/;

  test('accepts a body that is published or refused as named', () => {
    expect(checkPublish({ status: 200, text: '{}' }, null)).toEqual([]);
    expect(checkPublish({ status: 422, text: 'at most 5,000 are allowed' }, refusal)).toEqual([]);
  });

  test('finds a body that is refused, published or refused for another reason', () => {
    expect(checkPublish({ status: 422, text: 'at most 5,000' }, null)).toEqual([
      'publishing is answered 422: the attack did not arrive: at most 5,000',
    ]);
    expect(checkPublish({ status: 200, text: '{}' }, refusal)).toHaveLength(1);
    expect(checkPublish({ status: 422, text: 'too much work' }, refusal)).toHaveLength(1);
  });
});

describe('the bodies of drafting attacks', () => {
  const publish = (body: string) =>
    RENDER_TASKS.publishable({ subject: 'Cost', preheader: '', body, format: 'markdown' });

  test.each(Object.entries(PUBLISHED_BODIES))('are published: %s', async (_, body) => {
    expect(await publish(body)).toMatchObject({ body });
  });

  test.each(Object.entries(REFUSED_BODIES))('are refused with their message: %s', async (_, refused) => {
    const details = [{ field: 'body', message: expect.stringMatching(refused.message) as unknown }];
    await expect(publish(refused.body)).rejects.toMatchObject({ code: 'validation_failed', details });
  });
});

describe('growthOf', () => {
  test('counts the characters that native functions handle', async () => {
    const reports = await growthOf({ subject: 'native functions' });
    const exponents = reports.map(({ dimension, exponent }) => [dimension, Math.round(exponent)]);
    expect(Object.fromEntries(exponents)).toMatchObject({
      'searches in a text that is as long as there are searches': 2,
      'patterns in a text that is as long as there are patterns': 2,
      'one search in a long text': 1,
    });
  });
});
