import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { FAILPOINTS } from '../../../packages/server/src/platform/failpoints.ts';
import { CRASH_ACTIONS, createTrap, parseArmed, printArmed } from './arm.ts';
import { POINTS } from './crashes.ts';

test('parses what it prints, and nothing else', () => {
  for (const action of CRASH_ACTIONS) {
    const armed = { point: 'send_committed', action, after: 3 } as const;
    expect(parseArmed(printArmed(armed))).toEqual(armed);
  }
  for (const text of [
    '',
    'send_committed',
    'nowhere:kill:1',
    'send_committed:smile:1',
    'send_committed:kill:0',
  ])
    expect(() => parseArmed(text)).toThrow('Expected point:action:count');
});

test('acts once, at this point alone, on the requested pass', () => {
  const reached: string[] = [];
  const trap = createTrap({ databasePort: 0, onReached: ({ point }) => reached.push(point) });
  trap.failpoint('batch_claimed');
  trap.set({ point: 'batch_claimed', action: 'throw', after: 2 });
  trap.failpoint('batch_applied');
  trap.failpoint('batch_claimed');
  expect(reached).toEqual([]);
  expect(() => trap.failpoint('batch_claimed')).toThrow('Injected failure');
  trap.failpoint('batch_claimed');
  expect(reached).toEqual(['batch_claimed']);
  trap.set({ point: 'batch_claimed', action: 'throw', after: 1 });
  trap.set(null);
  trap.failpoint('batch_claimed');
});

test('breaks connections to the database, and no others', async () => {
  const servers = [createServer(), createServer()];
  for (const server of servers) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  }
  const [databasePort = 0, otherPort = 0] = servers.map((server) => (server.address() as AddressInfo).port);
  const trap = createTrap({ databasePort, onReached: () => {} });
  const [database, other] = [connect(databasePort), connect(otherPort)];
  await Promise.all([once(database, 'connect'), once(other, 'connect')]);
  trap.set({ point: 'webhooks_committing', action: 'drop', after: 1 });
  trap.failpoint('webhooks_committing');
  expect([database.destroyed, other.destroyed]).toEqual([true, false]);
  other.destroy();
  for (const server of servers) server.close();
});

test('kills the process at the point, as SIGKILL does', async () => {
  const arm = new URL('./arm.ts', import.meta.url).href;
  const code = `const { createTrap } = await import(${JSON.stringify(arm)});
    const trap = createTrap({ databasePort: 0, onReached: () => process.stdout.write('reached') });
    trap.set({ point: 'stopping', action: 'kill', after: 1 });
    trap.failpoint('stopping');
    process.stdout.write(' and continued');`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let received = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (received += text));
  const [, signal] = (await once(child, 'close')) as [number | null, string | null];
  expect([signal, received]).toEqual(['SIGKILL', 'reached']);
});

test('assigns every failpoint to a process, except those outside a run', () => {
  const elsewhere = ['import_committing', 'import_committed', 'migration_applied'];
  expect(new Set([...Object.values(POINTS).flat(), ...elsewhere])).toEqual(new Set(FAILPOINTS));
});
