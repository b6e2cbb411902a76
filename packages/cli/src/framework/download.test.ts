import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { testShell } from '../../testkit/shell.ts';

const NOT_UTF8 = Buffer.from([0xff, 0xfe, 0x41, 0xc3]);

/** Answers a raw email with bytes that are not UTF-8, and begins an export that it never ends. */
const server = createServer(({ url }, response) => {
  if (url?.endsWith('/eml')) response.setHeader('content-type', 'message/rfc822').end(NOT_UTF8);
  else response.setHeader('content-type', 'application/x-ndjson').write('{"type":"event"}\n');
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
afterAll(() => server.close().closeAllConnections());
const shell = testShell({
  BECKON_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  BECKON_TOKEN: `bkp_${'a'.repeat(40)}`,
  BECKON_PROJECT: '1',
});

describe('download', () => {
  test('writes bytes unchanged', async () => {
    const { code, bytes } = await shell.run(['emails', 'raw', '7']);
    expect([code, bytes]).toEqual([0, NOT_UTF8]);
  });

  test('ends with 130 when it is interrupted, and keeps no incomplete file', async () => {
    const printing = shell.start(['activity', 'export']);
    await printing.waitFor('event');
    printing.interrupt();
    expect(await printing.ended).toMatchObject({ code: 130, out: '{"type":"event"}\n', err: '' });
    const path = join(shell.folder, 'stream.ndjson');
    const arrived = once(server, 'request');
    const saving = shell.start(['activity', 'export', '--out', path]);
    await arrived;
    await expect.poll(() => existsSync(path)).toBe(true);
    saving.interrupt();
    expect(await saving.ended).toMatchObject({ code: 130, err: '' });
    expect(existsSync(path)).toBe(false);
  });
});
