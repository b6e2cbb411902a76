import type { Product } from './product.ts';

/** The resources that the settings depend on. `connections`: the number that the server alone may open. */
export type Machine = { memoryBytes: number; walCompression: string; connections?: number };

const MB = 1024 * 1024;
const CONNECTIONS_MIN = 200;
/** Connections for commands, for manual inspection, and those that PostgreSQL reserves for superusers. */
const FOR_OTHERS = 40;

/**
 * Tunable settings, written to the product's `.conf` at each start, so that a later version can change them. Values set with ALTER SYSTEM take
 * precedence.
 */
export function tunables(machine: Machine): Record<string, string> {
  const share = (part: number, minMb: number, maxMb: number): string =>
    `${Math.min(maxMb, Math.max(minMb, Math.floor(machine.memoryBytes / part / MB)))}MB`;
  return {
    max_connections: String(Math.max(CONNECTIONS_MIN, (machine.connections ?? 0) + FOR_OTHERS)),
    shared_buffers: share(8, 128, 1024),
    effective_cache_size: share(2, 256, 65_536),
    maintenance_work_mem: share(64, 64, 512),
    work_mem: share(1024, 4, 32),
    // Emails and events come in bursts: few, large checkpoints keep full-page images off the hot path.
    max_wal_size: '4GB',
    min_wal_size: '512MB',
    checkpoint_timeout: '15min',
    wal_compression: machine.walCompression,
    random_page_cost: '1.1',
    // Cancels the statements of a client that is gone. Windows does not support it, and PostgreSQL would not start with it there.
    ...(process.platform === 'win32' ? {} : { client_connection_check_interval: '1s' }),
    // Our statements are short; compiling them costs more than it saves.
    jit: 'off',
    // An idle system must cost nothing: there are no asynchronous commits, so both writers can sleep long between checks.
    wal_writer_delay: '2s',
    bgwriter_delay: '1s',
    autovacuum_naptime: '1min',
    max_logical_replication_workers: '0',
    // The server logs failed rows itself, redacted. A statement or its DETAIL would put users' addresses into a file.
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
    log_checkpoints: 'off',
    log_line_prefix: "'%m [%p] '",
    log_timezone: 'UTC',
    timezone: 'UTC',
    datestyle: "'iso, ymd'",
    lc_messages: 'C',
    default_text_search_config: "'pg_catalog.english'",
  };
}

/** Required settings are passed on the command line, which overrides every file. */
export function requirements(port: number): Record<string, string> {
  return {
    port: String(port),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    password_encryption: 'scram-sha-256',
    fsync: 'on',
    full_page_writes: 'on',
    synchronous_commit: 'on',
  };
}

export function renderConf({ title }: Pick<Product, 'title'>, settings: Record<string, string>): string {
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}\n`);
  return `# Written by ${title} at each start. Your own settings: ALTER SYSTEM SET …\n${lines.join('')}`;
}

export function renderArguments(settings: Record<string, string>): string[] {
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}
