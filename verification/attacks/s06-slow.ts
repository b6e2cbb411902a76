import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { bombs, costlyBodies } from '../../packages/server/testing/factories/costly-inputs.ts';
import type { Attack, Finding, Target } from './attack.ts';
import { type WaitTimes, measureWaits } from './good-client.ts';
import { liftLimits } from './routes.ts';
import { runTests } from './run-tests.ts';
import { runTool } from './run-tool.ts';
import type { Victim } from './victim.ts';

const SECONDS = 20;
const CONNECTIONS = 1_000;
const GROWTH_MAX_MS = 100;

export const s06: Attack = {
  id: 'S6',
  title: 'bombs and slow attacks, beside a client that goes on',
  passLine: `the p99 of a well-behaved client’s POST /events grows by at most ${GROWTH_MAX_MS} ms, and none of its requests is refused`,
  quick: false,
  needs: ['slowhttptest'],
  async run(target) {
    const victim = await target.ownVictim({ LOG_LEVEL: 'warn' });
    const { secret } = await victim.newKey(victim.projectId, 'slow');
    await liftLimits(victim);
    const findings: Finding[] = [];
    // The first requests of a process are always slow.
    await measureWaits(victim, secret, pause(SECONDS / 2));
    for (const [name, attack] of Object.entries(attacksOn(target, victim, secret))) {
      const calm = await measureWaits(victim, secret, pause(SECONDS));
      const report: string[] = [];
      const under = await measureWaits(victim, secret, attack(report));
      target.count('responses to the well-behaved client', calm.answers + under.answers);
      target.note(
        `${name}: ${formatWaits(calm)} before, ${formatWaits(under)} meanwhile; ${rssMib(victim)} MiB${report.join('')}`,
      );
      const growth = under.p99Ms - calm.p99Ms;
      if (growth > GROWTH_MAX_MS)
        findings.push({ severity: 'high', title: `under ${name} the p99 grows by ${growth.toFixed(0)} ms` });
      if (under.failures > 0)
        findings.push({ severity: 'high', title: `under ${name} ${under.failures} good requests fail` });
    }
    const tests = await runTests(target, [
      'packages/server/src/platform/http/body.test.ts',
      'packages/server/src/main/http/edge.test.ts',
      'packages/server/src/main/http/server.test.ts',
    ]);
    return [...findings, ...tests];
  },
};

function attacksOn(
  target: Target,
  victim: Victim,
  secret: string,
): Record<string, (report: string[]) => Promise<unknown>> {
  const slow =
    (mode: string, path: string, more: string[] = []) =>
    async (report: string[]) => {
      const args = [
        mode,
        '-c',
        String(CONNECTIONS),
        '-r',
        '200',
        '-l',
        String(SECONDS),
        '-i',
        '3',
        '-p',
        '3',
      ];
      const { output } = await runTool('slowhttptest', [...args, '-u', victim.url + path, ...more], {
        seconds: SECONDS + 30,
        cwd: target.dir,
      });
      // The tool colors its output.
      // oxlint-disable-next-line no-control-regex
      const plainOutput = output.replaceAll(/\u001B\[[0-9;]*m/g, '');
      const [, connected = '?'] = /connected:\s+(\d+)(?![^]*connected:)/.exec(plainOutput) ?? [];
      const [, available = '?'] =
        /service available:\s+(\w+)(?![^]*service available:)/.exec(plainOutput) ?? [];
      report.push(`; at the end ${connected} connected, service available: ${available}`);
      target.count('runs of slowhttptest');
      if (connected === '?') throw new Error(`unreadable output of slowhttptest: ${plainOutput.slice(-500)}`);
    };
  return {
    'slow headers (-H)': slow('-H', '/api/v1/events'),
    'slow bodies (-B)': slow('-B', '/api/v1/events', ['-f', 'application/json']),
    'ranges (-R)': slow('-R', '/openapi.json', ['-t', 'GET']),
    'slow reading (-X)': slow('-X', '/openapi.json', ['-k', '3']),
    'slow bodies with a valid key': () => drip(target, victim, secret),
    bombs: () => bomb(target, victim, secret),
    'bursts of costly JSON with an Idempotency-Key': () => burst(target, victim, secret),
  };
}

/** Sends many bodies with a valid key, each at one byte per second. */
async function drip(target: Target, victim: Victim, secret: string): Promise<void> {
  const head = [
    'POST /api/v1/events HTTP/1.1',
    'Host: localhost',
    `Authorization: Bearer ${secret}`,
    'Content-Type: application/json',
    'Content-Length: 10000',
  ].join('\r\n');
  const sockets: Socket[] = [];
  for (let n = 0; n < CONNECTIONS; n += 1) {
    const socket = connect(victim.port, '127.0.0.1');
    socket.on('error', () => socket.destroy());
    socket.write(`${head}\r\n\r\n{`);
    sockets.push(socket);
    if (n % 20 === 19) await pause(0.1);
  }
  for (let second = 0; second < SECONDS; second += 1) {
    for (const socket of sockets) if (socket.writable) socket.write(' ');
    await pause(1);
  }
  for (const socket of sockets) socket.destroy();
  target.count('slow bodies with a valid key', sockets.length);
}

const BOMBERS = 4;

async function bomb(target: Target, victim: Victim, secret: string): Promise<void> {
  const all = Object.entries(await bombs());
  const until = Date.now() + SECONDS * 1_000;
  const runAttacker = async (n: number): Promise<void> => {
    for (let at = n; Date.now() < until; at += 1) {
      const [coding, body] = all[at % all.length] ?? ['', Buffer.alloc(0)];
      const headers = {
        authorization: `Bearer ${secret}`,
        'content-type': 'application/json',
        'content-encoding': coding,
      };
      const { status } = await victim.send('POST /api/v1/events/batch', { headers, body });
      target.count('bombs');
      if (status !== 413 && status !== 429) throw new Error(`a bomb by ${coding} was answered ${status}`);
    }
  };
  await Promise.all(Array.from({ length: BOMBERS }, (_, n) => runAttacker(n)));
}

const BURST = 30;

/** Sends as many bodies at once as the rate limit admits. Together they once crashed a process with a heap of 1 GB. */
async function burst(target: Target, victim: Victim, secret: string): Promise<void> {
  const bodies = Object.values(costlyBodies('users')).map((text) => gzipSync(text, { level: 9 }));
  const until = Date.now() + SECONDS * 1_000;
  for (let round = 0; Date.now() < until; round += 1) {
    const body = bodies[round % bodies.length] ?? Buffer.alloc(0);
    const runAttacker = async (n: number): Promise<void> => {
      const headers = {
        authorization: `Bearer ${secret}`,
        'content-type': 'application/json',
        'content-encoding': 'gzip',
        'idempotency-key': `burst-${round}-${n}`,
      };
      const { status } = await victim.send('POST /api/v1/users/bulk', { headers, body });
      target.count('costly bodies');
      if (status !== 400 && status !== 429 && status !== 503)
        throw new Error(`a costly body was answered ${status}`);
    };
    await Promise.all(Array.from({ length: BURST }, (_, n) => runAttacker(n)));
  }
}

function formatWaits({ p99Ms, answers, failures }: WaitTimes): string {
  return `p99 ${p99Ms.toFixed(1)} ms of ${answers} answers${failures > 0 ? `, ${failures} refused` : ''}`;
}

function rssMib(victim: Victim): string {
  const match = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${victim.pid()}/status`, 'utf8'));
  return (Number(match?.[1]) / 1_024).toFixed(0);
}

function pause(seconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
}
