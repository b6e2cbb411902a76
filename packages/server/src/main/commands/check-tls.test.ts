import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { checkPublicUrl, checkTls } from './check-tls.ts';
import type { InstallationCheck, InspectedConfig } from './checks.ts';

const folder = await mkdtemp(join(tmpdir(), 'beckon-tls-'));
afterAll(() => rm(folder, { recursive: true }));
const at = (name: string): string => join(folder, name);
const openssl = (...args: string[]): void =>
  void execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
const isThere = spawnSync('openssl', ['version']).status === 0;

const CONFIG: InspectedConfig = {
  warnings: [],
  dataDir: folder,
  embedded: true,
  publicUrl: 'https://beckon.example',
  host: '127.0.0.1',
  tls: null,
  ports: [],
  servesApi: true,
  pooled: false,
  connectionsNeeded: 25,
  relay: null,
};

type CertificateInput = {
  name: string;
  by?: string;
  key?: string[];
  san?: string;
  days?: number;
  isIssuer?: boolean;
};
const EC = ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];

/** Creates `<name>.crt` and `<name>.key`, self-signed or signed by a certificate that was created before. */
function make({
  name,
  by,
  key = EC,
  san = 'DNS:beckon.example',
  days = 30,
  isIssuer = false,
}: CertificateInput): void {
  const signed = by === undefined ? [] : ['-CA', `${by}.crt`, '-CAkey', `${by}.key`];
  const extensions = [`basicConstraints=critical,CA:${isIssuer ? 'TRUE' : 'FALSE'}`, `subjectAltName=${san}`];
  const added = extensions.flatMap((extension) => ['-addext', extension]);
  const files = ['-keyout', `${name}.key`, '-out', `${name}.crt`];
  const about = ['-nodes', '-subj', `/CN=${name}`, '-days', String(days)];
  openssl('req', '-x509', '-newkey', ...key, ...about, ...files, ...added, ...signed);
}

/** Checks a chain of these certificates, with the key of the first. */
async function statesFor(names: string[], now = Date.now()): Promise<string[]> {
  const certFile = at('chain.pem');
  writeFileSync(certFile, names.map((name) => readFileSync(at(`${name}.crt`), 'utf8')).join(''));
  const tls = { certFile, keyFile: at(`${names[0]}.key`) };
  const checks = await checkTls({ ...CONFIG, tls }, now);
  return checks.map(({ state, message }) => `${state}: ${message}`);
}

const DAY_MS = 86_400_000;

test.skipIf(!isThere)(
  'checkTls › accepts a valid chain, and finds a broken, missing, expired or future one',
  async () => {
    make({ name: 'root', isIssuer: true, days: 3_650 });
    make({ name: 'middle', by: 'root', isIssuer: true, days: 60 });
    make({ name: 'stranger', isIssuer: true });
    make({ name: 'leaf', by: 'middle', days: 90 });
    const good = expect.stringMatching(/^ok: The certificate is valid until/) as string;
    expect(await statesFor(['leaf', 'middle'])).toEqual([good]);
    expect(await statesFor(['leaf', 'middle', 'root'])).toEqual([good]);
    expect(await statesFor(['leaf'])).toEqual([
      good,
      expect.stringMatching(/^warn: .*no certificates of the issuers/) as string,
    ]);
    expect(await statesFor(['leaf', 'stranger'])).toEqual([
      good,
      expect.stringMatching(/^fail: .*not followed by its issuer/) as string,
    ]);
    expect(await statesFor(['leaf', 'middle'], Date.now() + 70 * DAY_MS)).toEqual([
      good,
      expect.stringMatching(/^fail: The certificate of the issuer middle expired/) as string,
    ]);
    expect(await statesFor(['leaf', 'middle'], Date.now() - DAY_MS)).toEqual([
      expect.stringMatching(/^fail: The certificate is valid from/) as string,
    ]);
    expect(await statesFor(['leaf', 'middle'], Date.now() + 100 * DAY_MS)).toMatchObject([
      expect.stringMatching(/^fail: The certificate expired/) as string,
      expect.stringMatching(/^fail/) as string,
    ]);
  },
);

test.skipIf(!isThere)('checkTls › fails for a weak key', async () => {
  make({ name: 'weak', key: ['rsa:1024'] });
  expect(await statesFor(['weak'])).toEqual([
    expect.stringMatching(/^fail: The key .* is weak \(rsa, 1024 bits\)/) as string,
  ]);
  make({ name: 'strong', key: ['rsa:2048'] });
  expect(await statesFor(['strong'])).toEqual([expect.stringMatching(/^ok/) as string]);
});

/** A non-loopback address of this machine, if it has one. */
const address =
  Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? null;

/** Checks a server with this certificate and response. */
async function checkServer({
  name,
  body,
  ca,
}: {
  name: string;
  body: string;
  ca?: string;
}): Promise<InstallationCheck[]> {
  const pair = { cert: readFileSync(at(`${name}.crt`)), key: readFileSync(at(`${name}.key`)) };
  const server = createServer(pair, (_, response) => response.end(body));
  server.listen(0, address ?? '');
  await once(server, 'listening');
  try {
    const publicUrl = `https://${address}:${(server.address() as AddressInfo).port}`;
    const trusted = ca === undefined ? {} : { ca: readFileSync(at(`${ca}.crt`)) };
    return await checkPublicUrl({ ...CONFIG, publicUrl }, trusted);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const OURS = '{"data":{"version":"0.1.0","node":"v26"}}';

test('checkPublicUrl › fails for a name that does not resolve', async () => {
  const [check] = await checkPublicUrl({ ...CONFIG, publicUrl: 'https://unknown.invalid' });
  expect(check).toMatchObject({
    state: 'fail',
    message: expect.stringContaining('unknown.invalid has no address') as string,
  });
  expect(await checkPublicUrl({ ...CONFIG, publicUrl: 'http://localhost:8080' })).toEqual([]);
  expect(await checkPublicUrl({ ...CONFIG, servesApi: false })).toEqual([]);
});

test.skipIf(!isThere || address === null)(
  'checkPublicUrl › checks the certificate and the program at the public address',
  async () => {
    const san = `IP:${address}`;
    make({ name: 'outside', isIssuer: true, san });
    make({ name: 'elsewhere', isIssuer: true, san: 'DNS:elsewhere.example' });
    const messagesOf = async (options: Parameters<typeof checkServer>[0]): Promise<string[]> =>
      (await checkServer(options)).map(({ state, message }) => `${state}: ${message}`);
    const trusted = { name: 'outside', ca: 'outside' };
    expect(await messagesOf({ ...trusted, body: OURS })).toEqual([
      expect.stringMatching(/^ok: .* reaches Beckon/) as string,
    ]);
    expect(await messagesOf({ ...trusted, body: '<html>' })).toEqual([
      expect.stringMatching(/^warn: Another program/) as string,
    ]);
    expect(await messagesOf({ name: 'outside', body: OURS })).toEqual([
      expect.stringMatching(/^fail: .*certificate/i) as string,
    ]);
    expect(await messagesOf({ name: 'elsewhere', ca: 'elsewhere', body: OURS })).toEqual([
      expect.stringMatching(/^fail: .*IP/) as string,
    ]);
  },
);

test.skipIf(address === null)(
  'checkPublicUrl › warns if this machine cannot reach the public address',
  async () => {
    const [check] = await checkPublicUrl({ ...CONFIG, publicUrl: `https://${address}:1` });
    expect(check).toMatchObject({
      state: 'warn',
      message: expect.stringContaining('ECONNREFUSED') as string,
    });
  },
);
