import { expect, test } from 'vitest';
import { type Config, ConfigFaults, loadConfig } from './config.ts';
import type { Env } from './environment.ts';

const files: Record<string, string> = { '/run/secret': `${'s'.repeat(40)}\n`, '/run/empty': '\n' };
const readText = (path: string): string => {
  const text = files[path];
  if (text === undefined) throw new Error(`ENOENT: no such file, open '${path}'`);
  return text;
};
const load = (env: Env): Config => loadConfig(env, readText);
const SECRET = 'x'.repeat(32);

function faultsOf(env: Env): string[] {
  try {
    load(env);
  } catch (error) {
    if (error instanceof ConfigFaults)
      return error.faults.map((fault) => `${fault.variable} ${fault.message}`);
    throw error;
  }
  return [];
}

test('accepts an empty environment: loopback and the embedded database', () => {
  const config = load({});
  expect(config).toMatchObject({
    host: '127.0.0.1',
    port: 8080,
    publicUrl: 'http://localhost:8080',
    tls: null,
    redirectPort: null,
    metricsPort: null,
    trustProxy: [],
    database: null,
    secretKey: null,
    secretKeyPrevious: null,
    logLevel: 'info',
    warnings: [],
  });
  expect(config.dataDir).toMatch(/^\/.*\/data$/);
  expect([...config.roles]).toEqual(['api', 'worker', 'mail-in']);
  expect(config.mailIn).toEqual({ host: '127.0.0.1', port: 2525, isExplicit: false });
  expect(load({ PORT: '9000' }).publicUrl).toBe('http://localhost:9000');
});

test('takes an empty variable as unset', () => {
  expect(load({ PORT: '', DATABASE_URL: ' ', SECRET_KEY: '', ROLES: '' })).toEqual(load({}));
});

test('reads every variable', () => {
  const config = load({
    PORT: '443',
    HOST: '0.0.0.0',
    PUBLIC_URL: 'https://beckon.example/',
    TLS_CERT_FILE: '/tls/cert.pem',
    TLS_KEY_FILE: '/tls/key.pem',
    HTTP_REDIRECT_PORT: '80',
    METRICS_PORT: '9090',
    TRUST_PROXY: '10.0.0.0/8, ::1',
    DATA_DIR: '/var/lib/beckon',
    DATABASE_URL: 'postgres://u:p@db/beckon',
    ADMIN_DATABASE_URL: 'postgresql://a:p@db/beckon',
    DATABASE_POOLER: 'transaction',
    ROLES: 'worker',
    API_PROCESSES: '4',
    WORKER_PROCESSES: '64',
    SECRET_KEY_FILE: '/run/secret',
    SECRET_KEY_PREVIOUS: 'p'.repeat(32),
    LOG_LEVEL: 'warn',
    SMTP_URL: 'smtp://u:p@relay.example:587',
    MAIL_DOMAIN: 'Mail.beckon.example',
    SMTP_SPF_INCLUDE: '_spf.relay.example',
    MAIL_IN_HOST: '0.0.0.0',
    MAIL_IN_PORT: '25',
    TLS_CERT_DIR: '/tls/hosts',
    WEBHOOK_ALLOW_PRIVATE: 'false',
    MAIL_FROM: 'beckon@Bücher.example',
    DNS_SERVERS: '10.0.0.2, 127.0.0.1:5353',
    AI_BASE_URL: 'https://models.example/v1#anthropic',
    AI_API_KEY_FILE: '/run/secret',
    AI_MODEL: 'small-1',
    CLIENT_MINIMUM: 'Beckon-JS/1.4.0, beckon-py/0.9.0-rc.1',
    PROJECTS_PER_ORGANIZATION: '50',
    LOCAL_SHELL: 'on',
  });
  expect(config).toEqual({
    localShell: '/var/lib/beckon/beckon.sock',
    port: 443,
    host: '0.0.0.0',
    publicUrl: 'https://beckon.example',
    tls: { certFile: '/tls/cert.pem', keyFile: '/tls/key.pem' },
    redirectPort: 80,
    metricsPort: 9090,
    trustProxy: ['10.0.0.0/8', '::1'],
    dataDir: '/var/lib/beckon',
    database: {
      url: 'postgres://u:p@db/beckon',
      adminUrl: 'postgresql://a:p@db/beckon',
      namedStatements: false,
    },
    roles: new Set(['worker']),
    processes: { api: 4, worker: 64 },
    secretKey: 's'.repeat(40),
    secretKeyPrevious: 'p'.repeat(32),
    logLevel: 'warn',
    smtpUrl: 'smtp://u:p@relay.example:587',
    mailDomain: 'mail.beckon.example',
    spfInclude: '_spf.relay.example',
    mailIn: { host: '0.0.0.0', port: 25, isExplicit: true },
    tlsCertDir: '/tls/hosts',
    webhookAllowPrivate: false,
    mailFrom: 'beckon@xn--bcher-kva.example',
    backupDir: null,
    backupPassphrase: null,
    restoreGuard: 'auto',
    dnsServers: ['10.0.0.2', '127.0.0.1:5353'],
    model: { baseUrl: 'https://models.example/v1#anthropic', apiKey: 's'.repeat(40), name: 'small-1' },
    projectsMax: 50,
    minimumVersions: new Map([
      ['beckon-js', '1.4.0'],
      ['beckon-py', '0.9.0-rc.1'],
    ]),
    warnings: [],
  });
});

test('reports all faults at once, each by its variable and with the allowed values', () => {
  const faults = faultsOf({
    PORT: '80 80',
    PUBLIC_URL: 'beckon.example',
    TLS_CERT_FILE: '/tls/cert.pem',
    METRICS_PORT: '65536',
    TRUST_PROXY: '10.0.0.0/33',
    DATABASE_URL: 'mysql://u:hunter22@db/x',
    DATABASE_POOLER: 'session',
    ROLES: 'api,mailer',
    API_PROCESSES: '0',
    WORKER_PROCESSES: '65',
    PROJECTS_PER_ORGANIZATION: '0',
    SECRET_KEY: 'a-key-that-is-long-enough-but-not-alone',
    SECRET_KEY_FILE: '/run/secret',
    SECRET_KEY_PREVIOUS: 'short',
    LOG_LEVEL: 'loud',
    CLIENT_MINIMUM: 'beckon-js',
  });
  const expected = [
    /^PORT must be a port from 0 .* to 65535, not "80 80"$/,
    /^PUBLIC_URL must be an address such as https:/,
    /^TLS_KEY_FILE must be set/,
    /^METRICS_PORT must be a port/,
    /^TRUST_PROXY must be addresses or CIDR ranges.*not "10.0.0.0\/33"$/,
    /^DATABASE_URL must be a PostgreSQL address/,
    /^DATABASE_POOLER must be transaction or not set, not "session"$/,
    /^ROLES must be all, or any of api, worker, mail-in, separated by commas, not "mailer"$/,
    /^API_PROCESSES must be a whole number from 1 to 64, not "0"$/,
    /^WORKER_PROCESSES must be a whole number from 1 to 64, not "65"$/,
    /^PROJECTS_PER_ORGANIZATION must be a whole number from 1 to 10000, not "0"$/,
    /^SECRET_KEY must not be set together with SECRET_KEY_FILE$/,
    /^SECRET_KEY_PREVIOUS must have at least 16 characters/,
    /^LOG_LEVEL must be one of debug, info, warn, error, silent, not "loud"$/,
    /^CLIENT_MINIMUM must be clients and versions/,
  ];
  for (const pattern of expected)
    expect(
      faults.filter((fault) => pattern.test(fault)),
      `${pattern} in ${faults.join('\n')}`,
    ).toHaveLength(1);
  expect(faults).toHaveLength(expected.length);
});

test('repeats no password or secret in a fault', () => {
  const faults = faultsOf({ DATABASE_URL: 'mysql://u:hunter22@db/x', SECRET_KEY: 'tooshort' }).join();
  expect(faults).not.toMatch(/hunter22|tooshort/);
});

test('requires own TLS or a trusted proxy for an https address', () => {
  const PUBLIC_URL = 'https://beckon.example';
  expect(faultsOf({ PUBLIC_URL })).toEqual([
    expect.stringMatching(/^PUBLIC_URL is https, so either TLS_CERT_FILE/),
  ]);
  expect(faultsOf({ PUBLIC_URL, TRUST_PROXY: '127.0.0.1' })).toEqual([]);
  expect(faultsOf({ PUBLIC_URL, TLS_CERT_FILE: 'c', TLS_KEY_FILE: 'k' })).toEqual([]);
});

test('refuses own TLS for an http address, and a redirect without TLS', () => {
  expect(faultsOf({ TLS_CERT_FILE: 'c', TLS_KEY_FILE: 'k' })).toEqual([
    expect.stringMatching(/^PUBLIC_URL must be an https/),
  ]);
  expect(faultsOf({ HTTP_REDIRECT_PORT: '80' })).toEqual([
    expect.stringMatching(/^HTTP_REDIRECT_PORT requires own TLS/),
  ]);
});

test('accepts an http address anywhere, and warns if others can reach it', () => {
  expect(load({ HOST: '0.0.0.0' }).warnings).toEqual([expect.stringContaining('unencrypted')]);
  expect(load({ PUBLIC_URL: 'http://beckon.example' }).warnings).toEqual([
    expect.stringContaining('unencrypted'),
  ]);
  for (const HOST of ['127.0.0.1', 'localhost', '::1', '127.0.0.2'])
    expect(load({ HOST }).warnings).toEqual([]);
  const behindProxy = { HOST: '0.0.0.0', PUBLIC_URL: 'https://beckon.example', TRUST_PROXY: '10.0.0.1' };
  expect(load(behindProxy).warnings).toEqual([]);
});

test('requires SECRET_KEY for an external database', () => {
  const DATABASE_URL = 'postgres://db/beckon';
  expect(faultsOf({ DATABASE_URL })).toEqual([
    expect.stringMatching(/^SECRET_KEY or SECRET_KEY_FILE must be set/),
  ]);
  expect(faultsOf({ DATABASE_URL, SECRET_KEY: SECRET })).toEqual([]);
  expect(faultsOf({ DATABASE_URL, SECRET_KEY_FILE: '/run/none' })).toEqual([
    expect.stringMatching(/^SECRET_KEY_FILE must name a readable file \(ENOENT/),
  ]);
  expect(faultsOf({ SECRET_KEY_FILE: '/run/empty' })).toEqual([
    expect.stringMatching(/^SECRET_KEY_FILE names an empty file/),
  ]);
  expect(load({ SECRET_KEY: 'x'.repeat(16) }).warnings).toEqual([
    expect.stringMatching(/^SECRET_KEY is short/),
  ]);
});

test('refuses variables that require DATABASE_URL without it', () => {
  expect(faultsOf({ ADMIN_DATABASE_URL: 'postgres://db/x', DATABASE_POOLER: 'transaction' })).toEqual([
    expect.stringMatching(/^ADMIN_DATABASE_URL has an effect with DATABASE_URL only/),
    expect.stringMatching(/^DATABASE_POOLER has an effect with DATABASE_URL only/),
  ]);
});

test('requires a direct connection beside a pooler', () => {
  const behind = { DATABASE_URL: 'postgres://pooler/x', DATABASE_POOLER: 'transaction', SECRET_KEY: SECRET };
  expect(faultsOf(behind)).toEqual([
    expect.stringMatching(/^ADMIN_DATABASE_URL must be set to the direct address/),
  ]);
  expect(faultsOf({ ...behind, ADMIN_DATABASE_URL: 'postgres://db/x' })).toEqual([]);
});

test('refuses one port for two servers, unless it is any free port', () => {
  expect(faultsOf({ METRICS_PORT: '8080' })).toEqual(['METRICS_PORT must not be the same as PORT']);
  expect(faultsOf({ PORT: '0', METRICS_PORT: '0' })).toEqual([]);
});

test('requires address, key and name of a model together, and repeats no key', () => {
  const AI = { AI_BASE_URL: 'https://models.example/v1', AI_API_KEY: 'a-secret-key', AI_MODEL: 'small-1' };
  expect(load({}).model).toBeNull();
  expect(load(AI)).toMatchObject({
    model: { baseUrl: 'https://models.example/v1', apiKey: 'a-secret-key', name: 'small-1' },
    warnings: [],
  });
  for (const name of Object.keys(AI))
    expect(faultsOf({ ...AI, [name]: '' })).toEqual([
      expect.stringMatching(new RegExp(`^${name} must be set too`)),
    ]);
  for (const url of [
    'ftp://models.example',
    'models.example',
    'https://u:p@models.example/v1',
    'https://x.example/v1?key=1',
    'https://x.example/#openai',
  ])
    expect(faultsOf({ ...AI, AI_BASE_URL: url })).toEqual([
      expect.stringMatching(/^AI_BASE_URL must be the address of a model/),
    ]);
  expect(faultsOf({ ...AI, AI_API_KEY: 'a-secret-key', AI_API_KEY_FILE: '/run/none' }).join()).not.toContain(
    'a-secret-key',
  );
  expect(load({ ...AI, AI_BASE_URL: 'http://127.0.0.1:11434/v1' }).warnings).toEqual([]);
  expect(load({ ...AI, AI_BASE_URL: 'http://models.example/v1' }).warnings).toEqual([
    expect.stringMatching(/^AI_BASE_URL is http:\/\/models.example: .*unencrypted/),
  ]);
});
