import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { SNIPPETS } from './snippets.ts';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const BODY = '{"id":"msg_1","name":"Zoë"}';

function signed(at: number, body = BODY): string {
  const key = Buffer.from(SECRET.slice('whsec_'.length), 'base64');
  return `t=${at},v1=${createHmac('sha256', key).update(`${at}.${body}`).digest('hex')}`;
}

/** Signature headers, each with true if it is genuine. */
function cases(): [header: string, isGenuine: boolean][] {
  const now = Math.floor(Date.now() / 1_000);
  const right = signed(now);
  return [
    [right, true],
    [`${right},v1=${'0'.repeat(64)}`, true],
    [right.replace('v1=', `v1=${'0'.repeat(64)},v1=`), true],
    [signed(now, `${BODY} `), false],
    [signed(now - 900), false],
    [signed(now + 900), false],
    [right.replace('v1', 'v2'), false],
    [`t=${now},${right}`, false],
    [right.replace(/t=\d+,/, ''), false],
    ['', false],
    ['t=,v1=', false],
  ];
}

const codeOf = (language: string): string =>
  SNIPPETS.find((snippet) => snippet.language === language)?.code ?? '';

test('Node snippet › accepts only genuine deliveries', async () => {
  const code = Buffer.from(codeOf('Node')).toString('base64');
  const { isGenuine } = (await import(/* @vite-ignore */ `data:text/javascript;base64,${code}`)) as {
    isGenuine: (body: Buffer, header: string, secret: string) => boolean;
  };
  for (const [header, expected] of cases())
    expect(isGenuine(Buffer.from(BODY), header, SECRET), header).toBe(expected);
});

test('Python snippet › accepts only genuine deliveries', () => {
  const script = `import json, sys\nbody, secret, headers = json.load(sys.stdin)\nprint(json.dumps([is_genuine(body.encode(), h, secret) for h in headers]))`;
  const inputs = cases();
  const input = JSON.stringify([BODY, SECRET, inputs.map(([header]) => header)]);
  const output = execFileSync('python3', ['-c', `${codeOf('Python')}\n${script}`], {
    input,
    encoding: 'utf8',
  });
  expect(JSON.parse(output)).toEqual(inputs.map(([, expected]) => expected));
});

test('SNIPPETS › has one snippet for each language', () => {
  expect(SNIPPETS.map(({ language }) => language)).toEqual(['Node', 'Python', 'Java']);
});
