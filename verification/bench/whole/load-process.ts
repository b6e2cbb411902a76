/** Sends batches of live events as fast as possible. The parent pauses it while too many records wait, and resumes it. */

import http from 'node:http';
import { randomUUID } from 'node:crypto';
import { userOf } from '../world.ts';

export type ToLoad = { start: LoadTask } | 'pause' | 'go' | 'stop';
export type LoadTask = { port: number; secret: string; busy: number; fresh: number; connections: number };
export type FromLoad = { sent: number };

const BATCH = 100;
/** One event in this many is the first of a new user. */
const FRESH_EVERY = 20;

const state = { stopping: false, paused: null as PromiseWithResolvers<void> | null, sent: 0, fresh: 0, n: 0 };

process.on('message', (message: ToLoad) => {
  if (message === 'pause') state.paused ??= Promise.withResolvers<void>();
  else if (message === 'go') {
    state.paused?.resolve();
    state.paused = null;
  } else if (message === 'stop') {
    state.stopping = true;
    state.paused?.resolve();
  } else void run(message.start);
});

async function run(task: LoadTask): Promise<void> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: task.connections });
  await Promise.all(
    Array.from({ length: task.connections }, async () => {
      while (!state.stopping) {
        await state.paused?.promise;
        if (!state.stopping) await post(agent, task, bodyOf(task));
      }
    }),
  );
  agent.destroy();
  process.send?.({ sent: state.sent } satisfies FromLoad);
  process.disconnect?.();
}

function bodyOf({ busy, fresh }: LoadTask): string {
  const at = new Date().toISOString();
  const events = Array.from({ length: BATCH }, () => {
    const n = (state.n += 1);
    const isFresh = n % FRESH_EVERY === 0 && state.fresh < fresh;
    const person = isFresh ? busy + (state.fresh += 1) : n % busy;
    return `{"external_user_id":"${userOf(person)}","name":"feature_used","occurred_at":"${at}","properties":{"feature":"export","amount":10,"place":${n}}}`;
  });
  return `{"events":[${events.join(',')}]}`;
}

function post(agent: http.Agent, { port, secret }: LoadTask, body: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const headers = {
    Authorization: `Bearer ${secret}`,
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    'Idempotency-Key': randomUUID(),
  };
  const request = http.request(
    { agent, host: '127.0.0.1', port, method: 'POST', path: '/api/v1/events/batch', headers },
    (response) => {
      response.resume().on('end', () => {
        if (response.statusCode !== 202) return reject(new Error(`answered ${response.statusCode}`));
        state.sent += BATCH;
        resolve();
      });
    },
  );
  request.on('error', reject);
  request.end(body);
  return promise;
}
