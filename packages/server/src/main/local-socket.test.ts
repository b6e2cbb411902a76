import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import http from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { requestOverSocket } from '../../testing/servers/http-client.ts';
import type { Log } from '../platform/log.ts';
import { serveLocalSocket } from './local-socket.ts';

const base = mkdtempSync(join(tmpdir(), 'beckon-socket-'));
afterAll(() => rmSync(base, { recursive: true }));

/** A process that wants to serve a socket, and what it logs. */
function candidate(path: string, name: string) {
  const events: string[] = [];
  const waiting = new Set<() => void>();
  const note = (_fields: object, event: string): void => {
    events.push(event.replace('local_shell.', ''));
    for (const look of waiting) look();
  };
  const log: Log = { debug: note, info: note, warn: note, error: note };
  const createNamed = () =>
    http.createServer((_request, response) => {
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ name }));
    });
  const socket = serveLocalSocket({ path, createServer: createNamed, log, everyMs: 5 });
  onTestFinished(() => socket.stop());
  /** Resolves once the newest event is this one. */
  const becomes = (event: string): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (events.at(-1) !== event) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
    });
  return { ...socket, events, becomes };
}

let count = 0;
const newFolder = (): string => join(base, String((count += 1)));
const newPath = (): string => join(newFolder(), 'beckon.sock');
const nameAt = async (path: string): Promise<unknown> => (await requestOverSocket(path, 'GET /')).body;
const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

/** The socket file of a process that was killed: nothing listens. */
async function leaveStale(path: string): Promise<void> {
  const folder = join(path, '..');
  mkdirSync(folder, { recursive: true });
  const server = createServer();
  const bound = join(folder, 'bound');
  await new Promise<void>((resolve) => void server.listen(bound, resolve));
  renameSync(bound, path);
  await new Promise((resolve) => server.close(resolve));
}

describe('serveLocalSocket', () => {
  test('listens for its own account alone, in a folder that it creates, whatever the umask', async () => {
    const path = newPath();
    const mask = process.umask(0);
    onTestFinished(() => void process.umask(mask));
    const local = candidate(path, 'one');
    await local.start();
    expect([modeOf(path), modeOf(join(path, '..'))]).toEqual(['600', '700']);
    expect(process.umask()).toBe(0);
    expect(await nameAt(path)).toEqual({ name: 'one' });
    expect(await readdir(join(path, '..'))).toEqual(['beckon.sock']);
  });

  test('removes the file when it stops', async () => {
    const path = newPath();
    const local = candidate(path, 'one');
    await local.start();
    await local.stop();
    expect(await readdir(join(path, '..'))).toEqual([]);
    expect(local.events).toEqual(['listening']);
  });

  test('replaces the file that a killed process left behind', async () => {
    const path = newPath();
    await leaveStale(path);
    await expect(requestOverSocket(path, 'GET /')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await candidate(path, 'next').start();
    expect(await nameAt(path)).toEqual({ name: 'next' });
  });

  test('leaves a live socket to its process, and takes over when that one stops', async () => {
    const path = newPath();
    const [first, second] = [candidate(path, 'first'), candidate(path, 'second')];
    await first.start();
    await second.start();
    expect(second.events).toEqual(['waiting']);
    expect(await nameAt(path)).toEqual({ name: 'first' });
    await first.stop();
    await second.becomes('listening');
    expect(await nameAt(path)).toEqual({ name: 'second' });
  });

  test('leaves one listener if several processes find a stale file at once', async () => {
    const path = newPath();
    await leaveStale(path);
    const all = Array.from({ length: 8 }, (_, at) => candidate(path, String(at)));
    await Promise.all(all.map((entry) => entry.start()));
    await expect.poll(() => all.filter(({ events }) => events.at(-1) === 'listening').length).toBe(1);
    const serving = all.findIndex(({ events }) => events.at(-1) === 'listening');
    expect(await nameAt(path)).toEqual({ name: String(serving) });
    await all[serving]?.stop();
    await Promise.race(all.filter((_, at) => at !== serving).map((entry) => entry.becomes('listening')));
    expect(await nameAt(path)).not.toEqual({ name: String(serving) });
  });

  test('listens again when its file was deleted', async () => {
    const path = newPath();
    const local = candidate(path, 'one');
    await local.start();
    rmSync(path);
    await expect.poll(() => nameAt(path).catch(() => null)).toEqual({ name: 'one' });
  });

  test('keeps a file that is not a socket, and listens once it is gone', async () => {
    const path = newPath();
    mkdirSync(join(path, '..'));
    writeFileSync(path, 'notes');
    const local = candidate(path, 'one');
    await local.start();
    expect([local.events, readFileSync(path, 'utf8')]).toEqual([['unavailable'], 'notes']);
    rmSync(path);
    await local.becomes('listening');
  });

  test('reports once that the folder cannot be written, and does not fail', async () => {
    writeFileSync(join(base, 'file'), '');
    const local = candidate(join(base, 'file', 'beckon.sock'), 'one');
    await local.start();
    expect(local.events).toEqual(['unavailable']);
  });
});
