import { Command } from 'commander';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Operator, Served } from './operator.ts';
import { addServeCommand, DRAIN_MAX_MS } from './serve.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A server that starts and stops when it is told to, and a person at the keyboard. */
function stage(json = false) {
  const said: string[] = [];
  const started = Promise.withResolvers<Served>();
  const stopped = Promise.withResolvers<void>();
  const listeners = new Set<(signal: string) => void>();
  const state = { code: 0, stops: 0, logTo: '' };
  const never = (): never => {
    throw new Error('not in this test');
  };
  const operator: Operator = {
    open: never,
    migrate: never,
    distribute: never,
    inspect: never,
    backups: never,
    serve({ logTo }) {
      state.logTo = logTo;
      return started.promise;
    },
    onSignal(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    print: (text) => said.push(`out ${text}`),
    complain: (text) => said.push(`err ${text}`),
    setExitCode: (code) => (state.code = code),
  };
  const program = new Command();
  addServeCommand(program, operator);
  const ended = program.parseAsync(['node', 'beckon', 'serve', ...(json ? ['--json'] : [])]);
  const stop = (): Promise<void> => {
    state.stops += 1;
    return stopped.promise;
  };
  return {
    said,
    state,
    listeners,
    ended,
    stopped,
    fail: (error: Error) => started.reject(error),
    start: (warnings: string[] = [], setUpUrl: string | null = null) =>
      started.resolve({ url: 'http://localhost:8080', setUpUrl, warnings, stop }),
    signal: (name: string) => listeners.forEach((listener) => listener(name)),
  };
}

test('says where it is once it is ready, and ends with 0 after what was under way has ended', async () => {
  const { said, state, start, signal, stopped, ended, listeners } = stage();
  expect(said).toEqual([]);
  start(['careful']);
  await vi.advanceTimersByTimeAsync(0);
  expect(said).toEqual(['err Warning: careful', 'out Beckon is ready at http://localhost:8080']);
  expect(state).toMatchObject({ stops: 0, logTo: 'stdout' });
  signal('SIGTERM');
  await vi.advanceTimersByTimeAsync(DRAIN_MAX_MS - 1);
  expect(state.stops).toBe(1);
  stopped.resolve();
  await ended;
  expect(state.code).toBe(0);
  expect(listeners.size).toBe(0);
  expect(vi.getTimerCount()).toBe(0);
});

test('as long as nobody has an account, it prints where the first one is made', async () => {
  for (const json of [true, false]) {
    const { said, start, signal, stopped, ended } = stage(json);
    start([], 'http://localhost:8080/setup?token=t');
    await vi.advanceTimersByTimeAsync(0);
    expect(said.join()).toContain('http://localhost:8080/setup?token=t');
    stopped.resolve();
    signal('SIGTERM');
    await ended;
  }
});

test('a second signal does not skip the drain', async () => {
  const { state, start, signal, stopped, ended } = stage();
  start();
  await vi.advanceTimersByTimeAsync(0);
  let over = false;
  void ended.then(() => (over = true));
  signal('SIGINT');
  signal('SIGINT');
  await vi.advanceTimersByTimeAsync(5_000);
  signal('SIGTERM');
  await vi.advanceTimersByTimeAsync(1);
  expect({ over, stops: state.stops }).toEqual({ over: false, stops: 1 });
  stopped.resolve();
  await ended;
  expect(state.code).toBe(0);
});

test('a drain that does not end is given up after ten seconds, aloud', async () => {
  const { said, state, start, signal, ended } = stage();
  start();
  await vi.advanceTimersByTimeAsync(0);
  signal('SIGTERM');
  await vi.advanceTimersByTimeAsync(DRAIN_MAX_MS);
  await ended;
  expect(state.code).toBe(1);
  expect(said.at(-1)).toContain('within 10 s');
});

test('a signal that comes during the start stops the server as soon as it has started', async () => {
  const { state, start, signal, stopped, ended } = stage();
  signal('SIGTERM');
  stopped.resolve();
  start();
  await ended;
  expect(state).toMatchObject({ code: 0, stops: 1 });
});

test('a start that fails says why and ends with 1', async () => {
  const { said, state, fail, ended } = stage();
  fail(new Error('This database cannot keep what it acknowledges'));
  await ended;
  expect(state.code).toBe(1);
  expect(said).toEqual(['err This database cannot keep what it acknowledges']);
});

test('with --json stdout is the address alone, and the log goes elsewhere', async () => {
  const { said, state, start, signal, stopped, ended } = stage(true);
  start();
  await vi.advanceTimersByTimeAsync(0);
  expect(said).toEqual(['out {"url":"http://localhost:8080"}']);
  expect(state.logTo).toBe('stderr');
  signal('SIGTERM');
  stopped.resolve();
  await ended;
});
