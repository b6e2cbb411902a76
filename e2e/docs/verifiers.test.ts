import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readWebhookSecret, signWebhook } from '@beckon/contract/signature';
import { afterAll, expect, test } from 'vitest';
import { SNIPPETS } from './texts.ts';

/**
 * Tests the signature verifiers in other languages that the guide prints against the server's signatures. The JavaScript verifier has its
 * test in the contract package.
 */
const folder = mkdtempSync(join(tmpdir(), 'beckon-verifiers-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const BODY = '{"id":"msg_1","type":"email.opened","data":{"snippet":"café ☕"}}';
const NOW = Math.floor(Date.now() / 1_000);

function sign(at: number, secret = SECRET): string {
  const bytes = readWebhookSecret(secret);
  return (
    signWebhook({ id: 'msg_1', body: BODY, timestamp: at, secrets: bytes ? [bytes] : [] })[
      'X-Service-Signature'
    ] ?? ''
  );
}

const OTHER = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
const GOOD = sign(NOW);
/** A request, and whether it is genuine. */
const CASES: { body: string; header: string; genuine: boolean }[] = [
  { body: BODY, header: GOOD, genuine: true },
  { body: BODY, header: `t=${NOW},v1=${'0'.repeat(64)},${GOOD.split(',')[1]}`, genuine: true },
  { body: `${BODY} `, header: GOOD, genuine: false },
  { body: BODY, header: sign(NOW, OTHER), genuine: false },
  { body: BODY, header: GOOD.replace(`t=${NOW}`, `t=${NOW + 1}`), genuine: false },
  { body: BODY, header: sign(NOW - 310), genuine: false },
  { body: BODY, header: sign(NOW + 310), genuine: false },
  ...['', 't=,v1=', `t=${NOW}`, `t=${NOW},v1=`, `t=${NOW},v1=é`, `${GOOD},t=${NOW}`, 'garbage'].map(
    (header) => ({
      body: BODY,
      header,
      genuine: false,
    }),
  ),
];
const PYTHON = `
import sys

lines = [base64.b64decode(line) for line in sys.stdin.read().split("\\n")[:-1]]
for body, header in zip(lines[::2], lines[1::2]):
    print("true" if is_genuine(body, header.decode(), "${SECRET}") else "false")
`;
const JAVA = `
class Ask {
  public static void main(String[] args) throws Exception {
    java.util.Scanner in = new java.util.Scanner(System.in);
    while (in.hasNextLine()) {
      byte[] body = Base64.getDecoder().decode(in.nextLine());
      String header = new String(Base64.getDecoder().decode(in.nextLine()), StandardCharsets.UTF_8);
      System.out.println(Webhooks.isGenuine(body, header, "${SECRET}"));
    }
  }
}
`;
const EXPECTED = CASES.map(({ genuine }) => String(genuine));

const inputs = CASES.flatMap(({ body, header }) => [body, header]).map((text) =>
  Buffer.from(text).toString('base64'),
);

function printedOf(language: string): string {
  return (
    SNIPPETS.find(
      (snippet) => snippet.file === 'docs/how-to/verify-webhooks.md' && snippet.language === language,
    )?.text ?? ''
  );
}

function has(program: string, ...args: string[]): boolean {
  return spawnSync(program, args).status === 0;
}

function outputLines(program: string, args: string[]): string[] {
  const { stdout, stderr, status } = spawnSync(program, args, {
    input: `${inputs.join('\n')}\n`,
    encoding: 'utf8',
  });
  expect(status, stderr).toBe(0);
  return stdout.trim().split('\n');
}

test.skipIf(!has('python3', '-c', 'import sys; sys.exit(sys.version_info < (3, 9))'))(
  'the Python verifier accepts genuine requests and nothing else',
  () => {
    const file = join(folder, 'verify.py');
    writeFileSync(file, `${printedOf('python')}\n${PYTHON}`);
    expect(outputLines('python3', [file])).toEqual(EXPECTED);
  },
);

test.skipIf(!has('java', '--source', '17', '--version'))(
  'the Java verifier accepts genuine requests and nothing else',
  () => {
    const file = join(folder, 'Ask.java');
    // The class that is started has to come first.
    writeFileSync(file, printedOf('java').replace('final class Webhooks', `${JAVA}\nfinal class Webhooks`));
    expect(outputLines('java', [file])).toEqual(EXPECTED);
  },
);
