import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { firstCalls } from './sample-calls.ts';
import { type SampleLanguage, sampleOf, SAMPLE_LANGUAGES } from './sample-programs.ts';

const LANGUAGES = Object.keys(SAMPLE_LANGUAGES) as SampleLanguage[];
const UUID_V4 = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/i;

/** How this machine runs a sample; a language that is not installed is skipped, and the output says so. */
const RUNNERS: Record<SampleLanguage, { command: string; args: (file: string) => string[]; file: string }> = {
  curl: { command: 'bash', args: (file) => [file], file: 'sample.sh' },
  typescript: { command: process.execPath, args: () => [], file: 'sample.mts' },
  python: { command: 'python3', args: (file) => [file], file: 'sample.py' },
  go: { command: 'go', args: (file) => ['run', file], file: 'sample.go' },
  ruby: { command: 'ruby', args: (file) => [file], file: 'sample.rb' },
  php: { command: 'php', args: (file) => [file], file: 'sample.php' },
};

function isInstalled(command: string): boolean {
  return spawnSync('bash', ['-c', `command -v ${command}`]).status === 0;
}

type Received = { path: string; headers: IncomingHttpHeaders; body: unknown };

/** Runs a sample against a server that accepts everything, and returns what it received. */
async function received(language: SampleLanguage, body: object): Promise<Received[]> {
  const requests: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const sent: unknown = JSON.parse(Buffer.concat(chunks).toString());
      requests.push({ path: request.url ?? '', headers: request.headers, body: sent });
      response.writeHead(202, { 'content-type': 'application/json' }).end('{"data":{"accepted":true}}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const folder = mkdtempSync(join(tmpdir(), 'beckon-sample-'));
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const program = sampleOf(language, { url }, [
      { path: 'users', body },
      { path: 'events', body },
    ]);
    const { command, args, file } = RUNNERS[language];
    const path = join(folder, file);
    writeFileSync(path, program);
    await run(command, args(path), language === 'typescript' ? program : null);
  } finally {
    server.close();
    rmSync(folder, { recursive: true });
  }
  return requests;
}

/** A TypeScript sample is run from its text, because it imports the client of this repository. */
async function run(command: string, args: string[], program: string | null): Promise<void> {
  const child = spawn(command, program === null ? args : ['--input-type=module', '-e', program], {
    env: { ...process.env, BECKON_API_KEY: `sk_test_${'x'.repeat(40)}` },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = (await once(child, 'close')) as [number];
  expect(code).toBe(0);
}

describe('sampleOf', () => {
  describe.each(LANGUAGES)('in %s', (language) => {
    const { command } = RUNNERS[language];
    it.skipIf(!isInstalled(command))(
      'sends any value unchanged, with the key and a new Idempotency-Key for each call',
      async () => {
        const body = {
          external_user_id: `o'hara "$(id)\`id\`" #{1 + 1} \\ é €`,
          traits: { empty: {}, none: null, yes: true, no: false, count: 1.5, list: ['a', 2] },
        };
        const requests = await received(language, body);
        expect(requests.map(({ path }) => path)).toEqual(['/api/v1/users', '/api/v1/events']);
        for (const { headers, body: sent } of requests) {
          expect(sent).toEqual(body);
          expect(headers.authorization).toBe(`Bearer sk_test_${'x'.repeat(40)}`);
          expect(headers['content-type']).toMatch(/^application\/json/);
          expect(headers['idempotency-key']).toMatch(UUID_V4);
        }
        expect(new Set(requests.map(({ headers }) => headers['idempotency-key'])).size).toBe(2);
      },
      60_000,
    );

    it('contains the URL and the key, or the name of its variable', () => {
      const calls = firstCalls({ email: 'ada@x.org' });
      const target = { url: 'https://mail.x.org' };
      expect(sampleOf(language, target, calls)).toContain('https://mail.x.org');
      expect(sampleOf(language, target, calls)).toContain('BECKON_API_KEY');
      const withKey = sampleOf(language, { ...target, key: 'sk_live_x' }, calls);
      expect(withKey).toContain('sk_live_x');
      expect(withKey).not.toContain('BECKON_API_KEY');
    });
  });

  it('uses the method of the client for each path', () => {
    const target = { url: 'https://mail.x.org' };
    const events = [{ external_user_id: 'user_1', name: 'user_signed_up' }];
    const program = sampleOf('typescript', target, [
      { path: 'users/bulk', body: { users: [{ external_user_id: 'user_1' }] } },
      { path: 'events/batch', body: { events } },
    ]);
    expect(program).toContain('await beckon.users.bulk([{ external_user_id: "user_1" }]);');
    expect(program).toContain(
      'await beckon.batch([{ external_user_id: "user_1", name: "user_signed_up" }]);',
    );
  });
});

describe('firstCalls', () => {
  it('sends a user with an address, and the event of the welcome rule', () => {
    const calls = firstCalls({ user: 'user_7', email: "o'ada@x.org" });
    const text = sampleOf('curl', { url: 'http://localhost:8080', key: 'sk_live_x' }, calls);
    const output = execFileSync('bash', ['-c', `curl() { printf '%s\\n' "$@"; }\n${text}`])
      .toString()
      .split('\n');
    expect(output).toContain('http://localhost:8080/api/v1/users');
    expect(output).toContain('Authorization: Bearer sk_live_x');
    expect(output).toContain('{"external_user_id":"user_7","email":"o\'ada@x.org","traits":{"name":"Ada"}}');
    expect(output).toContain('http://localhost:8080/api/v1/events');
    expect(output).toContain('{"external_user_id":"user_7","name":"user_signed_up"}');
  });
});
