import { expect, test } from 'vitest';
import { loadConfig } from './config.ts';
import { type Variable, VARIABLES } from './variables.ts';

/** Returns the names of the variables that a load of this environment reads. */
function readVariables(values: Record<string, string>): Set<string> {
  const names = new Set<string>();
  const env = new Proxy(values, {
    get(target, name) {
      names.add(String(name));
      return target[String(name)];
    },
  });
  loadConfig(env, () => '');
  return names;
}

const read = new Set(['TLS_CERT_FILE', 'TLS_KEY_FILE', ...readVariables({})]);
const named = VARIABLES.flatMap(({ name, secret }) => (secret ? [name, `${name}_FILE`] : [name]));

test('the list has every variable that is read, and no other', () => {
  expect(named.toSorted()).toEqual([...read].toSorted());
  expect(new Set(named).size).toBe(named.length);
});

test('the documented defaults are the real ones', () => {
  const unset = loadConfig({}, () => '');
  const unsetValue = (name: string): Variable['unset'] | undefined =>
    VARIABLES.find((variable) => variable.name === name)?.unset;
  expect(unsetValue('PORT')).toBe(String(unset.port));
  expect(unsetValue('HOST')).toBe(unset.host);
  expect(unsetValue('PUBLIC_URL')?.replace('$PORT', String(unset.port))).toBe(unset.publicUrl);
  expect(unsetValue('MAIL_IN_PORT')).toBe(String(unset.mailIn.port));
  expect(unsetValue('MAIL_IN_HOST')).toBe(unset.mailIn.host);
  expect(unsetValue('API_PROCESSES')).toBe(String(unset.processes.api));
  expect(unsetValue('WORKER_PROCESSES')).toBe(String(unset.processes.worker));
  expect(unsetValue('LOG_LEVEL')).toBe(unset.logLevel);
  expect(unsetValue('PROJECTS_PER_ORGANIZATION')).toBe(String(unset.projectsMax));
  expect([unsetValue('LOCAL_SHELL'), unset.localShell]).toEqual(['on', `${unset.dataDir}/beckon.sock`]);
  expect(unsetValue('WEBHOOK_ALLOW_PRIVATE')).toBe(String(unset.webhookAllowPrivate));
  for (const [name, value] of [
    ['METRICS_PORT', unset.metricsPort],
    ['DATABASE_URL', unset.database],
    ['SMTP_URL', unset.smtpUrl],
    ['MAIL_FROM', unset.mailFrom],
    ['AI_BASE_URL', unset.model],
  ] as const)
    expect([unsetValue(name), value]).toEqual([null, null]);
});

test('every example is valid', () => {
  const { example: databaseUrl } = VARIABLES.find(({ name }) => name === 'DATABASE_URL') ?? { example: '' };
  for (const { name, example } of VARIABLES) {
    const beside: Record<string, string> = {
      DATABASE_URL: databaseUrl,
      ADMIN_DATABASE_URL: databaseUrl,
      SECRET_KEY: 'x'.repeat(32),
      SMTP_URL: 'smtp://localhost',
      TLS_CERT_FILE: 'c',
      TLS_KEY_FILE: 'k',
      PUBLIC_URL: 'https://beckon.example',
      AI_BASE_URL: 'https://models.example/v1',
      AI_API_KEY: 'a-key',
      AI_MODEL: 'small-1',
    };
    // The example of a model's key or of the secret is a description; any text is valid.
    expect(() => loadConfig({ ...beside, [name]: example }, () => ''), name).not.toThrow();
  }
});

test('a secret is read from a file too, is checked in the same way, and is in no message', () => {
  const files: Record<string, string> = {
    '/db': 'postgres://u:p@db/beckon\n',
    '/relay': 'smtp://u:p@relay.example:587\n',
    '/wrong': 'mysql://u:hunter22@db/x\n',
  };
  const load = (env: Record<string, string>): ReturnType<typeof loadConfig> =>
    loadConfig(env, (path) => files[path] ?? '');
  const config = load({ DATABASE_URL_FILE: '/db', SECRET_KEY: 'x'.repeat(32), SMTP_URL_FILE: '/relay' });
  expect(config.database).toMatchObject({
    url: 'postgres://u:p@db/beckon',
    adminUrl: 'postgres://u:p@db/beckon',
  });
  expect(config.smtpUrl).toBe('smtp://u:p@relay.example:587');
  const wrong = { DATABASE_URL_FILE: '/wrong', SMTP_URL_FILE: '/wrong', MAIL_FROM: 'a@acme.example' };
  expect(() => load(wrong)).toThrow(
    /^DATABASE_URL_FILE must be a PostgreSQL address.*\nSMTP_URL_FILE must be the address of a relay[^\n]*$/,
  );
  expect(() => load(wrong)).not.toThrow(/hunter22/);
  expect(() => load({ DATABASE_URL: 'postgres://db/b', DATABASE_URL_FILE: '/db' })).toThrow(
    'DATABASE_URL must not be set together with DATABASE_URL_FILE',
  );
});
