import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, describe, expect, test } from 'vitest';
import { newVerifiedScenario, openMailStage } from '../../../testing/factories/mail-stage.ts';
import { addMjmlEmail, EMAIL_NAMES, writeAll } from '../../../testing/factories/shipped-emails.ts';
import type { SunkEmail } from '../../../testing/servers/smtp-sink.ts';

/**
 * Runs the rules of SpamAssassin that need no network over the shipped emails and one with links, as they arrive at a mail server. Opens
 * and clicks of all of them are tracked.
 */
const isThere = spawnSync('spamassassin', ['--version']).status === 0;
const title = isThere ? 'judged by SpamAssassin' : 'skipped, spamassassin is not installed';

type Hit = { score: number; rule: string };

async function judge({ raw, to }: SunkEmail): Promise<Hit[]> {
  const date = /^Date: (.*)$/m.exec(raw)?.[1] ?? '';
  const received = `Received: from out.relay.example (out.relay.example [51.15.20.30])\r
\tby mx.home.test (Postfix) with ESMTPS id 4XyZ1a2b3c\r
\tfor <${to[0]}>; ${date}\r
`;
  // Only its default settings count, neither those of a user nor what it has learned on this host.
  const child = spawn('spamassassin', ['-L', '-t', '--cf=use_bayes 0', '--prefspath=/dev/null'], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stdin.end(Buffer.from(received + raw, 'latin1'));
  await once(child, 'close');
  const [, report = ''] = Buffer.concat(chunks).toString('latin1').split('Content analysis details:');
  expect(report).toContain('pts rule name');
  return [...report.matchAll(/^ *(-?\d+\.\d+) ([A-Z][A-Z0-9_]+) /gm)].map(([, score, rule = '']) => ({
    score: Number(score),
    rule,
  }));
}

describe.skipIf(!isThere)(title, async () => {
  const emails = new Map<string, SunkEmail>();
  if (isThere) {
    const scenario = await newVerifiedScenario(await openMailStage());
    await addMjmlEmail(scenario);
    await writeAll(scenario, { traits: { name: 'Ada', plan: 'pro' }, plan: 'pro', meter: 'seats' });
    for (const name of EMAIL_NAMES) {
      const found = scenario
        .arrived()
        .find(({ raw }) => new RegExp(`^Feedback-ID: ${name.replaceAll('_', '-')}:`, 'm').test(raw));
      if (found) emails.set(name, found);
    }
  }
  const report: string[] = [];
  afterAll(() => void process.stdout.write(`${report.join('\n')}\n`));

  test.each(EMAIL_NAMES)('%s: has a score below 1.0 in total, and at most 0.5 by any rule', async (name) => {
    const email = emails.get(name);
    if (!email) throw new Error(`${name} did not arrive`);
    const hits = await judge(email);
    report.push(`${name}: ${hits.map(({ score, rule }) => `${rule} ${score}`).join(', ') || 'nothing'}`);
    const against = hits.filter(({ score }) => score > 0).map(({ score }) => score);
    expect(against.reduce((sum, score) => sum + score, 0)).toBeLessThan(1);
    expect(Math.max(0, ...against)).toBeLessThanOrEqual(0.5);
  });
});
