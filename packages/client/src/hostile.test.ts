import { afterAll, beforeAll, expect, test } from 'vitest';
import { testProject, type TestServer, testServer } from '../../server/testing/servers/server.ts';
import { countNumbered, sendNumbered } from '../testkit/exactly-once.ts';
import { HOSTILITIES, type HostileProxy, startHostileProxy } from '../testkit/hostile-proxy.ts';
import { Beckon } from './index.ts';

let server: TestServer;
let proxy: HostileProxy;

beforeAll(async () => {
  server = await testServer();
  proxy = await startHostileProxy({ upstream: server.url, share: 0.25, seed: 7, lateMs: 700 });
});
afterAll(async () => {
  await proxy.close();
  await server.stop();
});

test('client › delivers every event exactly once through a faulty network', async () => {
  const project = await testProject(server);
  const beckon = new Beckon({
    apiKey: project.secret,
    url: proxy.url,
    timeoutMs: 500,
    retry: { attempts: 50, totalMs: 60_000 },
  });
  await sendNumbered(beckon, { bulk: 1_000, singles: 250, batches: 250 });
  expect(await countNumbered(server.db, project.id)).toEqual([
    { name: 'batch', events: 250, different: 250 },
    { name: 'bulk', events: 1_000, different: 1_000 },
    { name: 'single', events: 250, different: 250 },
  ]);
  for (const hostility of HOSTILITIES) expect(proxy.met[hostility], hostility).toBeGreaterThan(0);
}, 120_000);
