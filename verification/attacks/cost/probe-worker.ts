/**
 * Sends the server two requests in a loop. It runs in a thread of its own, so that the requests of the attack do not delay the measurement.
 */

import { Agent, request } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

export type ProbeTask = { port: number; secret: string };
export type ProbeReport = {
  /** The longest time until `GET /livez` answered, minus the time in which this thread itself did not run. */
  livezMs: number;
  eventMs: number;
  answers: number;
  failures: string[];
};

const { port, secret } = workerData as ProbeTask;
const PAUSE_MS = 10;
const TICK_MS = 5;
const ANSWER_MS = 60_000;
const FAILURES_MAX = 5;

const report: ProbeReport = { livezMs: 0, eventMs: 0, answers: 0, failures: [] };
let isOver = false;

/** The moments at which this thread ran late, and by how much. Delays by the scheduler of a small machine are not the server's fault. */
const stalls: { at: number; ms: number }[] = [];
let last = performance.now();
const ticking = setInterval(() => {
  const now = performance.now();
  const late = now - last - TICK_MS;
  if (late > TICK_MS) stalls.push({ at: now, ms: late });
  last = now;
}, TICK_MS);

function ownStall(from: number, to: number): number {
  return stalls.filter(({ at }) => at >= from && at <= to + TICK_MS).reduce((sum, { ms }) => sum + ms, 0);
}

const agents = { livez: new Agent({ keepAlive: true }), event: new Agent({ keepAlive: true }) };

type Question = { method: string; path: string; headers?: Record<string, string>; body?: string };

function send(agent: Agent, { method, path, headers = {}, body }: Question): Promise<number> {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const options = { host: '127.0.0.1', port, agent, method, path, timeout: ANSWER_MS };
    const clientRequest = request({ ...options, headers: { ...headers, ...length } }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
      response.on('error', reject);
    });
    clientRequest.on('timeout', () => clientRequest.destroy(new Error('no answer')));
    clientRequest.on('error', reject);
    clientRequest.end(body);
  });
}

async function repeat(
  kind: 'livez' | 'event',
  expectedStatus: number,
  question: () => Question,
): Promise<void> {
  while (!isOver) {
    const startedAt = performance.now();
    const status = await send(agents[kind], question()).catch((error: Error) => error.message);
    const endedAt = performance.now();
    // The next tick shows whether this thread ran late.
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    const waited = endedAt - startedAt - ownStall(startedAt, endedAt);
    if (kind === 'livez') report.livezMs = Math.max(report.livezMs, waited);
    else report.eventMs = Math.max(report.eventMs, waited);
    report.answers += 1;
    if (status !== expectedStatus && report.failures.length < FAILURES_MAX)
      report.failures.push(`${kind}: ${String(status)}`);
  }
}

let events = 0;
const both = Promise.all([
  repeat('livez', 200, () => ({ method: 'GET', path: '/livez' })),
  repeat('event', 202, () => ({
    method: 'POST',
    path: '/api/v1/events',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
    body: JSON.stringify({ external_user_id: `neighbor-${(events += 1) % 50}`, name: 'still_answered' }),
  })),
]);

parentPort?.once('message', () => {
  isOver = true;
  void both.then(() => {
    clearInterval(ticking);
    agents.livez.destroy();
    agents.event.destroy();
    parentPort?.postMessage(report);
  });
});
