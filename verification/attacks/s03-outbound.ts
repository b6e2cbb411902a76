import { once } from 'node:events';
import { createServer, type Server as TlsServer } from 'node:https';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer as createListener, type Server } from 'node:net';
import { join } from 'node:path';
import { startDnsServer } from '../../packages/server/testing/servers/dns-server.ts';
import { embeddedAddress } from '../../packages/server/testing/oracles/survival.ts';
import type { Attack, Finding, Target } from './attack.ts';
import { liftLimits } from './routes.ts';
import { runTests } from './run-tests.ts';
import { readTraceFile, straceCommand } from './sniff.ts';
import { NAMES, URLS } from './url-corpus.ts';
import { newVictim, type Victim } from './victim.ts';

/** A public address that is not in use. */
const UNUSED_ADDRESS = '2000::1';
const DELIVERY_MS = 8_000;

export const s03: Attack = {
  id: 'S3',
  title: 'outbound requests to private addresses: literal addresses, rebinding names, redirects',
  passLine:
    'every private address is refused; by the kernel’s trace, 0 connections other than to our own database and name server',
  quick: false,
  needs: ['strace'],
  async run(target) {
    return [
      ...(await attackClosed(target)),
      ...(await attackRedirects(target)),
      ...(await runTests(target, [
        'packages/server/src/platform/outbound/hostile.test.ts',
        'packages/server/src/platform/outbound/outbound.test.ts',
      ])),
    ];
  },
};

async function listen(server: Server | TlsServer, host = '::'): Promise<number> {
  server.listen(0, host);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Attacks an installation that refuses private addresses, as in production. */
async function attackClosed(target: Target): Promise<Finding[]> {
  const trace = join(target.dir, 'closed.strace');
  const dns = await startDnsServer();
  let connectionCount = 0;
  const listener = createListener((socket) => {
    connectionCount += 1;
    socket.destroy();
  });
  const port = await listen(listener);
  for (const { name, type, records } of NAMES) dns.set(type, name, records);
  let queries = 0;
  dns.set('AAAA', 'moving.hook.test', () => ((queries += 1) === 1 ? [UNUSED_ADDRESS] : ['::1']));
  dns.set('A', 'moving.hook.test', () => (queries <= 1 ? [] : ['127.0.0.1']));
  const victim = await newVictim({
    env: { DNS_SERVERS: dns.servers.join(',') },
    wrapper: straceCommand(trace),
  });
  const findings: Finding[] = [];
  const ownAddresses = [`127.0.0.1:${embeddedAddress(victim.dataDir).port}`, ...dns.servers];
  try {
    await liftLimits(victim);
    const hooks = `/projects/${victim.projectId}/webhooks`;
    for (const text of URLS) {
      const url = text.replace('PORT', String(port));
      const { status, text: replyText } = await victim.owner(`POST ${hooks}`, { url });
      target.count('addresses');
      if (status !== 422)
        findings.push({
          severity: 'high',
          title: `a webhook is accepted for ${url}: ${status}`,
          evidence: replyText,
        });
    }
    const names = [...NAMES.map(({ name }) => name), 'moving.hook.test'];
    const ids = await createEndpoints(
      victim,
      hooks,
      names.map((name) => `https://${name}:${port}/`),
    );
    target.count('names', names.length);
    if (ids.length !== names.length)
      findings.push({ severity: 'medium', title: 'not every name could be tested' });
    await sendTests(victim, { hooks, ids, rounds: 3 });
    if (connectionCount > 0)
      findings.push({ severity: 'high', title: `${connectionCount} connections reached a private listener` });
  } finally {
    await victim.remove();
    listener.close();
    await dns.stop();
  }
  return [...findings, ...checkTrace(target, trace, [...ownAddresses, UNUSED_ADDRESS])];
}

/** Creates an endpoint for each URL and returns the ids of those that were created. A project may have up to ten. */
async function createEndpoints(victim: Victim, hooks: string, urls: string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const url of urls) {
    const { status, json } = await victim.owner(`POST ${hooks}`, { url });
    if (status === 200 || status === 201) ids.push((json as { data: { id: string } }).data.id);
  }
  return ids;
}

type TestDeliveries = { hooks: string; ids: string[]; rounds: number };

/** Sends each endpoint a test several times, as its owner may. */
async function sendTests(victim: Victim, { hooks, ids, rounds }: TestDeliveries): Promise<void> {
  for (let round = 0; round < rounds; round += 1)
    for (const id of ids) await victim.owner(`POST ${hooks}/${id}/test`, {});
  const deadline = Date.now() + DELIVERY_MS * 4;
  const attempted = (): Promise<number> =>
    victim.database(async (db) =>
      Number((await db.query('SELECT count(DISTINCT endpoint_id) AS n FROM webhook_attempt')).rows[0].n),
    );
  while ((await attempted()) < ids.length && Date.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, 200));
}

/**
 * Attacks an installation in development mode, which allows private addresses. It must follow no redirect, and the metadata addresses of
 * clouds must stay blocked.
 */
async function attackRedirects(target: Target): Promise<Finding[]> {
  const trace = join(target.dir, 'open.strace');
  const dns = await startDnsServer();
  const tls = (file: string): Buffer =>
    readFileSync(new URL(`../../packages/server/testing/servers/tls/names.${file}`, import.meta.url));
  const victims: string[] = [
    'https://169.254.169.254/latest/meta-data/',
    'http://[fd00:ec2::254]/',
    'http://10.255.255.1/',
  ];
  let requests = 0;
  const answer = createServer({ cert: tls('crt'), key: tls('key') }, (request, response) => {
    request.resume();
    response.writeHead([301, 302, 303, 307, 308][requests % 5] ?? 302, {
      location: victims[requests % victims.length],
    });
    requests += 1;
    response.end();
  });
  const port = await listen(answer, '127.0.0.1');
  const env = {
    DNS_SERVERS: dns.servers.join(','),
    WEBHOOK_ALLOW_PRIVATE: 'true',
    NODE_EXTRA_CA_CERTS: new URL('../../packages/server/testing/servers/tls/names.crt', import.meta.url)
      .pathname,
  };
  const victim = await newVictim({ env, wrapper: straceCommand(trace) });
  const findings: Finding[] = [];
  const ownAddresses = [`127.0.0.1:${embeddedAddress(victim.dataDir).port}`, ...dns.servers];
  try {
    const hooks = `/projects/${victim.projectId}/webhooks`;
    dns.set('A', 'link.hook.test', ['169.254.169.254']);
    const urls = [1, 2, 3].map((n) => `https://localhost:${port}/${n}`);
    const ids = await createEndpoints(victim, hooks, [...urls, 'https://link.hook.test/']);
    await sendTests(victim, { hooks, ids, rounds: 5 });
    target.count('redirects', requests);
    if (requests === 0)
      findings.push({ severity: 'medium', title: 'no request came that could be redirected' });
  } finally {
    await victim.remove();
    answer.close();
    await dns.stop();
  }
  return [...findings, ...checkTrace(target, trace, [...ownAddresses, `127.0.0.1:${port}`, `::1:${port}`])];
}

/** Allows the connections to our PostgreSQL and the DNS server, which are on loopback too. Every other connection is a finding. */
function checkTrace(target: Target, file: string, allowed: string[]): Finding[] {
  const attempts = readTraceFile(file);
  target.count('connections in the kernel’s trace', attempts.length);
  const addresses = new Set(attempts.map(({ address, port }) => `${address}:${port}`));
  // A trace without our own database is incomplete and proves nothing.
  if (!allowed.some((address) => addresses.has(address)))
    return [{ severity: 'high', title: 'the kernel’s trace is empty' }];
  const allowedSet = new Set(allowed);
  const wrong = attempts.filter(
    ({ address, port }) =>
      // A datagram socket that connects to port 0 only asks the kernel for a route and sends nothing.
      port !== 0 && !allowedSet.has(address) && !allowedSet.has(`${address}:${port}`),
  );
  return [...new Set(wrong.map(({ address, port }) => `${address}:${port}`))].map((where) => ({
    severity: 'high',
    title: `a connection was attempted to ${where}`,
  }));
}
