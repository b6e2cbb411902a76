import { Command } from 'commander';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Operator, OperatorServer } from './operator.ts';
import { addServeCommand, DRAIN_MAX_MS } from './serve.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A server whose start and stop the test decides, and signals that the test sends. */
function stage(json = false) {
  const printed: string[] = [];
  const started = Promise.withResolvers<OperatorServer>();
  const stopped = Promise.withResolvers<void>();
  const listeners = new Set<(signal: string) => void>();
  const state = { code: 0, stops: 0, logTo: '' };
  const notUsed = (): never => {
    throw new Error('not used in this test');
  };
  const operator: Operator = {
    open: notUsed,
    migrate: notUsed,
    distribute: notUsed,
    inspect: notUsed,
    backups: notUsed,
    serve({ logTo }) {
      state.logTo = logTo;
      return started.promise;
    },
    onSignal(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    print: (text) => printed.push(`out ${text}`),
    printError: (text) => printed.push(`err ${text}`),
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
    printed,
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

describe('serve', () => {
  test('prints the address once it is ready, and exits with 0 after the work in progress', async () => {
    const { printed, state, start, signal, stopped, ended, listeners } = stage();
    expect(printed).toEqual([]);
    start(['careful']);
    await vi.advanceTimersByTimeAsync(0);
    expect(printed).toEqual(['err Warning: careful', 'out Beckon is ready at http://localhost:8080']);
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

  test('prints the setup link while no account exists', async () => {
    for (const json of [true, false]) {
      const { printed, start, signal, stopped, ended } = stage(json);
      start([], 'http://localhost:8080/setup?token=t');
      await vi.advanceTimersByTimeAsync(0);
      expect(printed.join()).toContain('http://localhost:8080/setup?token=t');
      stopped.resolve();
      signal('SIGTERM');
      await ended;
    }
  });

  test('does not shorten the shutdown at a second signal', async () => {
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

  test('stops waiting after ten seconds, with an error', async () => {
    const { printed, state, start, signal, ended } = stage();
    start();
    await vi.advanceTimersByTimeAsync(0);
    signal('SIGTERM');
    await vi.advanceTimersByTimeAsync(DRAIN_MAX_MS);
    await ended;
    expect(state.code).toBe(1);
    expect(printed.at(-1)).toContain('within 10 s');
  });

  test('stops after the start if a signal arrives during the start', async () => {
    const { state, start, signal, stopped, ended } = stage();
    signal('SIGTERM');
    stopped.resolve();
    start();
    await ended;
    expect(state).toMatchObject({ code: 0, stops: 1 });
  });

  test('exits with 1 and the reason if the start fails', async () => {
    const { printed, state, fail, ended } = stage();
    fail(new Error('This database cannot keep what it acknowledges'));
    await ended;
    expect(state.code).toBe(1);
    expect(printed).toEqual(['err This database cannot keep what it acknowledges']);
  });

  test('prints only the address with --json, and logs to stderr', async () => {
    const { printed, state, start, signal, stopped, ended } = stage(true);
    start();
    await vi.advanceTimersByTimeAsync(0);
    expect(printed).toEqual(['out {"url":"http://localhost:8080"}']);
    expect(state.logTo).toBe('stderr');
    signal('SIGTERM');
    stopped.resolve();
    await ended;
  });
});
