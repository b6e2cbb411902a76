import { resolve } from 'node:path';
import { isLoopbackName } from '../platform/net/network-address.ts';
import { LOG_LEVELS, type LogLevel } from '../platform/log.ts';
import type { ModelSettings } from '../modules/templates/index.ts';
import { type BackupConfig, type LocalShellConfig, readBackup, readLocalShell } from './read-folders.ts';
import {
  createReader,
  type Env,
  type ConfigFault,
  isAddressRange,
  isServerAddress,
  readDatabaseUrl,
  readHostName,
  readMailbox,
  readMinimums,
  readModelUrl,
  readPublicUrl,
  readSmtpUrl,
  type ReadText,
} from './environment.ts';

type SharedConfig = BackupConfig & LocalShellConfig;

/** All values from the environment, checked as a whole before anything starts. */
export type Config = SharedConfig & {
  host: string;
  port: number;
  publicUrl: string;
  tls: { certFile: string; keyFile: string } | null;
  redirectPort: number | null;
  metricsPort: number | null;
  trustProxy: string[];
  /** Null: the embedded database in `dataDir`. */
  database: { url: string; adminUrl: string; namedStatements: boolean } | null;
  roles: ReadonlySet<Role>;
  /** The number of processes of each kind on this machine; one of each share a process. */
  processes: { api: number; worker: number };
  /** Null: generated into `dataDir`. */
  secretKey: string | null;
  secretKeyPrevious: string | null;
  logLevel: LogLevel;
  /** Null: emails go to the test inbox of this installation. */
  smtpUrl: string | null;
  /** The public name of the host that receives mail, and the `include` of the relay for an SPF record. */
  mailDomain: string | null;
  spfInclude: string | null;
  /** The address of the SMTP listener. `isExplicit`: false for the default, which another server on this machine may have taken. */
  mailIn: { host: string; port: number; isExplicit: boolean };
  /** A folder with certificates for the tracking domains of projects: `<host>.crt` and `<host>.key`. */
  tlsCertDir: string | null;
  /** For development: webhooks may go to private addresses too. */
  webhookAllowPrivate: boolean;
  /** The sender of emails to members. */
  mailFrom: string | null;
  /** Null: the DNS servers of the machine. */
  dnsServers: string[] | null;
  /** The model for AI drafting in projects that use it; null: emails come from their templates alone. */
  model: ModelSettings | null;
  /** The maximum number of projects of an organization. */
  projectsMax: number;
  /** Client name, in lower case → the least version that gets no request to update. */
  minimumVersions: ReadonlyMap<string, string>;
};

const ROLES = ['api', 'worker', 'mail-in'] as const;
export type Role = (typeof ROLES)[number];
/** More than any machine can use. A typing error is reported and not tried. */
const PROCESSES_MAX = 64;
const PROJECTS_DEFAULT = 20;
const PROJECTS_MAX = 10_000;

/** All faults at once, each with its variable and the allowed values, so that one start is enough to fix a configuration. */
export class ConfigFaults extends Error {
  readonly faults: ConfigFault[];

  constructor(faults: ConfigFault[]) {
    super(faults.map((fault) => `${fault.variable} ${fault.message}`).join('\n'));
    this.name = 'ConfigFaults';
    this.faults = faults;
  }
}

const SECRET_MIN_CHARS = 16;
const SECRET_GOOD_CHARS = 32;

/** Reads nothing but its arguments and, through `readText`, the files that `*_FILE` variables name. */
export function loadConfig(env: Env, readText: ReadText): Config {
  const read = createReader(env, readText);
  const port = read.port('PORT') ?? 8080;
  const config: Config = {
    host: read.text('HOST') ?? '127.0.0.1',
    port,
    publicUrl: read.parsed('PUBLIC_URL', readPublicUrl) ?? `http://localhost:${port}`,
    tls: readTls(read),
    redirectPort: read.port('HTTP_REDIRECT_PORT'),
    metricsPort: read.port('METRICS_PORT'),
    trustProxy: read.list('TRUST_PROXY', 'addresses or CIDR ranges such as 10.0.0.0/8', isAddressRange) ?? [],
    database: readDatabase(read),
    roles: readRoles(read),
    processes: readProcesses(read),
    secretKey: read.secret('SECRET_KEY'),
    secretKeyPrevious: read.secret('SECRET_KEY_PREVIOUS'),
    logLevel: read.oneOf('LOG_LEVEL', LOG_LEVELS) ?? 'info',
    smtpUrl: read.parsedSecret('SMTP_URL', readSmtpUrl),
    mailDomain: read.parsed('MAIL_DOMAIN', readHostName),
    spfInclude: read.parsed('SMTP_SPF_INCLUDE', readHostName),
    mailIn: {
      host: read.text('MAIL_IN_HOST') ?? '127.0.0.1',
      port: read.port('MAIL_IN_PORT') ?? 2525,
      isExplicit: read.isSet('MAIL_IN_PORT'),
    },
    tlsCertDir: resolved(read.text('TLS_CERT_DIR')),
    webhookAllowPrivate: read.oneOf('WEBHOOK_ALLOW_PRIVATE', ['true', 'false']) === 'true',
    mailFrom: read.parsed('MAIL_FROM', readMailbox),
    dnsServers: read.list('DNS_SERVERS', 'addresses such as 10.0.0.2 or 127.0.0.1:5353', isServerAddress),
    model: readModel(read),
    projectsMax: read.count('PROJECTS_PER_ORGANIZATION', PROJECTS_MAX) ?? PROJECTS_DEFAULT,
    minimumVersions: read.parsed('CLIENT_MINIMUM', readMinimums) ?? new Map<string, string>(),
    ...readBackup(read),
    ...readLocalShell(read),
  };
  checkTransport(config, read);
  checkMail(config, read);
  checkModel(config);
  checkOutcomes(config, read);
  checkPorts(config, read);
  checkSecret(config, read);
  if (read.faults.length > 0) throw new ConfigFaults(read.faults);
  return config;
}

type Reader = ReturnType<typeof createReader>;

function resolved(path: string | null): string | null {
  return path === null ? null : resolve(path);
}

function readTls(read: Reader): Config['tls'] {
  const [certFile, keyFile] = [read.text('TLS_CERT_FILE'), read.text('TLS_KEY_FILE')];
  if (certFile && keyFile) return { certFile: resolve(certFile), keyFile: resolve(keyFile) };
  if (certFile) read.fault('TLS_KEY_FILE', 'must be set, since TLS_CERT_FILE is');
  if (keyFile) read.fault('TLS_CERT_FILE', 'must be set, since TLS_KEY_FILE is');
  return null;
}

function readDatabase(read: Reader): Config['database'] {
  const url = read.parsedSecret('DATABASE_URL', readDatabaseUrl);
  const adminUrl = read.parsedSecret('ADMIN_DATABASE_URL', readDatabaseUrl);
  const pooler = read.oneOf('DATABASE_POOLER', ['transaction']);
  if (url) {
    if (pooler !== null && !read.isSecretSet('ADMIN_DATABASE_URL'))
      read.fault(
        'ADMIN_DATABASE_URL',
        'must be set to the direct address, since DATABASE_POOLER is set. Migrations hold a lock that a pooler would lose',
      );
    return { url, adminUrl: adminUrl ?? url, namedStatements: pooler === null };
  }
  if (read.isSecretSet('DATABASE_URL')) return null;
  const useless = {
    ADMIN_DATABASE_URL: read.isSecretSet('ADMIN_DATABASE_URL'),
    DATABASE_POOLER: read.isSet('DATABASE_POOLER'),
  };
  for (const [name, isSet] of Object.entries(useless))
    if (isSet) read.fault(name, 'has an effect with DATABASE_URL only, which is not set');
  return null;
}

const MODEL_PARTS = 3;

/** All three variables or none. */
function readModel(read: Reader): Config['model'] {
  const baseUrl = read.parsed('AI_BASE_URL', readModelUrl);
  const [apiKey, name] = [read.secret('AI_API_KEY'), read.text('AI_MODEL')];
  if (baseUrl !== null && apiKey !== null && name !== null) return { baseUrl, apiKey, name };
  const missing = [
    ...(read.isSet('AI_BASE_URL') ? [] : ['AI_BASE_URL']),
    ...(read.isSecretSet('AI_API_KEY') ? [] : ['AI_API_KEY']),
    ...(name === null ? ['AI_MODEL'] : []),
  ];
  for (const variable of missing.length === MODEL_PARTS ? [] : missing)
    read.fault(variable, 'must be set too, because AI_BASE_URL, AI_API_KEY and AI_MODEL belong together');
  return null;
}

function readRoles(read: Reader): ReadonlySet<Role> {
  const names = read.list('ROLES', `all, or any of ${ROLES.join(', ')}`, (name) =>
    ['all', ...ROLES].includes(name),
  );
  return new Set(!names || names.includes('all') ? ROLES : ROLES.filter((role) => names.includes(role)));
}

function readProcesses(read: Reader): Config['processes'] {
  const count = (name: string): number => read.count(name, PROCESSES_MAX) ?? 1;
  return { api: count('API_PROCESSES'), worker: count('WORKER_PROCESSES') };
}

function checkTransport(config: Config, read: Reader): void {
  const { protocol, hostname } = new URL(config.publicUrl);
  if (protocol === 'https:') {
    if (!config.tls && config.trustProxy.length === 0 && !read.isSet('TRUST_PROXY'))
      read.fault(
        'PUBLIC_URL',
        'is https, so either TLS_CERT_FILE and TLS_KEY_FILE must be set (own TLS), or TRUST_PROXY (a proxy ends TLS)',
      );
  } else if (config.tls) {
    read.fault('PUBLIC_URL', 'must be an https:// address, since TLS_CERT_FILE is set');
  } else if (!isLoopbackName(config.host) || !isLoopbackName(hostname)) {
    config.warnings.push(
      `PUBLIC_URL is ${config.publicUrl} and HOST is ${config.host}: API keys would travel unencrypted. Outside a private network use an https:// address`,
    );
  }
  if (config.redirectPort !== null && !config.tls)
    read.fault('HTTP_REDIRECT_PORT', 'requires own TLS. Set TLS_CERT_FILE and TLS_KEY_FILE too');
}

/** Real emails need links that others can open, and a sender for those to members. */
function checkMail(config: Config, read: Reader): void {
  if (config.smtpUrl === null) {
    if (read.isSecretSet('SMTP_URL')) return;
    for (const name of ['SMTP_SPF_INCLUDE', 'MAIL_FROM'])
      if (read.isSet(name)) read.fault(name, 'has an effect with SMTP_URL only, which is not set');
    return;
  }
  if (isLoopbackName(new URL(config.publicUrl).hostname))
    config.warnings.push(
      `SMTP_URL is set, but PUBLIC_URL is ${config.publicUrl}: emails are held until it is an address that recipients can open`,
    );
  if (config.mailFrom === null)
    config.warnings.push('MAIL_FROM is not set, so the team gets no notifications by email');
}

/** Warns of a setting for development alone, and rejects one without effect. */
function checkOutcomes({ tls, tlsCertDir, webhookAllowPrivate, warnings }: Config, read: Reader): void {
  if (webhookAllowPrivate)
    warnings.push(
      'WEBHOOK_ALLOW_PRIVATE is true: a member who adds a webhook can reach the private network of this machine. Use it for development only',
    );
  if (tlsCertDir !== null && tls === null)
    read.fault('TLS_CERT_DIR', 'requires own TLS. Set TLS_CERT_FILE and TLS_KEY_FILE too');
}

function checkModel({ model, warnings }: Config): void {
  if (model === null) return;
  const { protocol, hostname } = new URL(model.baseUrl);
  if (protocol === 'http:' && !isLoopbackName(hostname))
    warnings.push(
      `AI_BASE_URL is http://${hostname}: the API key and the content of emails would be sent unencrypted. Outside a private network, use an https:// address`,
    );
}

function checkPorts(config: Config, read: Reader): void {
  const usedPorts = new Map([[config.port, 'PORT']]);
  for (const [name, port] of [
    ['HTTP_REDIRECT_PORT', config.redirectPort],
    ['METRICS_PORT', config.metricsPort],
    ['MAIL_IN_PORT', config.mailIn.port],
  ] as const) {
    // 0 requests any free port, and may be repeated.
    if (port === null || port === 0) continue;
    const other = usedPorts.get(port);
    if (other) read.fault(name, `must not be the same as ${other}`);
    usedPorts.set(port, name);
  }
}

function checkSecret(config: Config, read: Reader): void {
  if (config.database && config.secretKey === null && !read.isSecretSet('SECRET_KEY'))
    read.fault(
      'SECRET_KEY',
      'or SECRET_KEY_FILE must be set with DATABASE_URL: every machine needs the same one',
    );
  for (const [name, secret] of [
    ['SECRET_KEY', config.secretKey],
    ['SECRET_KEY_PREVIOUS', config.secretKeyPrevious],
  ] as const) {
    if (secret === null) continue;
    if (secret.length < SECRET_MIN_CHARS)
      read.fault(
        name,
        `must have at least ${SECRET_MIN_CHARS} characters, better ${SECRET_GOOD_CHARS} random ones`,
      );
    else if (secret.length < SECRET_GOOD_CHARS)
      config.warnings.push(
        `${name} is short: ${SECRET_GOOD_CHARS} random characters are better (openssl rand -hex 32)`,
      );
  }
}
