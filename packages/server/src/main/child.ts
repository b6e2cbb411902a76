import { readFileSync } from 'node:fs';
import { createLog, type Log } from '../platform/log.ts';
import { type Config, loadConfig, type Role } from './config.ts';
import { reportCrash } from './crash-report.ts';
import { followDataLocation, openSecretsAt } from './prepare.ts';
import { type ProcessMessage, nameOf, type SupervisorMessage } from './processes.ts';
import { readRelease } from './release.ts';
import { reload, serveHere } from './serve-here.ts';
import type { RunningServer } from './wire.ts';
import { configSecrets } from './secrets.ts';

/**
 * The entry point of one of several processes. `supervise.ts` starts it once the configuration is valid and the database is ready. It ends
 * with the supervisor.
 */
const [role, number, port, logTo] = process.argv.slice(2);
const name = nameOf({ role: role as Role, number: Number(number) });
process.title = `beckon ${name}`;

const pending = new Map<number, (text: string) => void>();
let next = 0;
let stopping: Promise<void> | null = null;
const serving = start();
serving.then(
  () => send({ kind: 'ready' }),
  (error: unknown) => send({ kind: 'failed', message: messageOf(error) }, () => process.exit(1)),
);

// A terminal and a service manager signal the whole process group: after two requests, it stops once.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, stop);
process.on('SIGHUP', () => receive({ kind: 'reload' }));
process.on('message', receive);

async function start(): Promise<RunningServer> {
  const config = readConfig();
  const log = withProcessName(createLog(config.logLevel, logTo === 'stderr' ? 2 : 1, configSecrets(config)));
  reportCrash((error) => log.error({ err: error }, 'process.failed'));
  const location = await followDataLocation(config);
  const secrets = await openSecretsAt(config, { location, log });
  const context = { location, secrets, log, release: readRelease(), countedByAll };
  return serveHere(config, context);
}

function receive(message: SupervisorMessage): void {
  if (message.kind === 'stop') stop();
  if (message.kind === 'text') pending.get(message.id)?.(message.text);
  if (message.kind === 'reload') void serving.then(reload, ignore);
  if (message.kind === 'count') void serving.then((server) => count(server, message.id), ignore);
}

/** A process that is still starting stops as soon as it has started. */
function stop(): void {
  stopping ??= serving.then((server) => server.stop(), ignore).then(() => process.exit(0));
}

async function count(server: RunningServer, id: number): Promise<void> {
  send({ kind: 'counted', id, counts: await server.counts() });
}

/** The supervisor has the counts of all processes. */
function countedByAll(): Promise<string> {
  const id = (next += 1);
  return new Promise<string>((resolve) => {
    pending.set(id, resolve);
    send({ kind: 'counts_requested', id });
  }).finally(() => pending.delete(id));
}

/** Without a connection to the supervisor the message is lost, but then this process is about to end. */
function send(message: ProcessMessage, onSent: () => void = ignore): void {
  process.send?.(message, onSent);
}

/** Replaces the values that belong to all processes: the port was chosen already, and other processes have the other roles. */
function readConfig(): Config {
  const read = loadConfig(process.env, (path) => readFileSync(path, 'utf8'));
  return { ...read, roles: new Set([role as Role]), port: Number(port) };
}

function withProcessName(log: Log): Log {
  const label = { process: name };
  return {
    debug: (fields, event) => log.debug({ ...label, ...fields }, event),
    info: (fields, event) => log.info({ ...label, ...fields }, event),
    warn: (fields, event) => log.warn({ ...label, ...fields }, event),
    error: (fields, event) => log.error({ ...label, ...fields }, event),
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function ignore(): void {}
