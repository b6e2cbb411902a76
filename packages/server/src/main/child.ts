import { readFileSync } from 'node:fs';
import { createLog, type Log } from '../platform/log.ts';
import { type Config, loadConfig, type Role } from './config.ts';
import { lastWords } from './crash-report.ts';
import { followPlace, openSecretsAt } from './prepare.ts';
import { type FromPart, nameOf, type ToPart } from './processes.ts';
import { readRelease } from './release.ts';
import { reload, serveHere } from './serve-here.ts';
import type { RunningServer } from './wire.ts';
import { toldSecrets } from './secrets.ts';

/**
 * The entry point of one of several processes. `supervise.ts` starts it once the configuration is valid and the database is ready. It ends
 * with the supervisor.
 */
const [role, number, port, logTo] = process.argv.slice(2);
const name = nameOf({ role: role as Role, number: Number(number) });
process.title = `beckon ${name}`;

const asked = new Map<number, (text: string) => void>();
let next = 0;
let stopping: Promise<void> | null = null;
const serving = start();
serving.then(
  () => tell({ kind: 'ready' }),
  (error: unknown) => tell({ kind: 'failed', message: said(error) }, () => process.exit(1)),
);

// A terminal and a service manager signal the whole process group: after two requests, it stops once.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, stop);
process.on('SIGHUP', () => hear({ kind: 'reload' }));
process.on('message', hear);

async function start(): Promise<RunningServer> {
  const config = readConfig();
  const log = sayingWho(createLog(config.logLevel, logTo === 'stderr' ? 2 : 1, toldSecrets(config)));
  lastWords((error) => log.error({ err: error }, 'process.failed'));
  const place = await followPlace(config);
  const secrets = await openSecretsAt(config, { place, log });
  const here = { place, secrets, log, release: readRelease(), countedByAll };
  return serveHere(config, here);
}

function hear(message: ToPart): void {
  if (message.kind === 'stop') stop();
  if (message.kind === 'text') asked.get(message.id)?.(message.text);
  if (message.kind === 'reload') void serving.then(reload, ignore);
  if (message.kind === 'count') void serving.then((server) => count(server, message.id), ignore);
}

/** A process that is still starting stops as soon as it has started. */
function stop(): void {
  stopping ??= serving.then((server) => server.stop(), ignore).then(() => process.exit(0));
}

async function count(server: RunningServer, id: number): Promise<void> {
  tell({ kind: 'counted', id, counts: await server.counts() });
}

/** The supervisor has the counts of all processes. */
function countedByAll(): Promise<string> {
  const id = (next += 1);
  return new Promise<string>((resolve) => {
    asked.set(id, resolve);
    tell({ kind: 'asked', id });
  }).finally(() => asked.delete(id));
}

/** Without a connection to the supervisor the message is lost, but then this process is about to end. */
function tell(message: FromPart, then: () => void = ignore): void {
  process.send?.(message, then);
}

/** Replaces the values that belong to all processes: the port was chosen already, and other processes have the other roles. */
function readConfig(): Config {
  const read = loadConfig(process.env, (path) => readFileSync(path, 'utf8'));
  return { ...read, roles: new Set([role as Role]), port: Number(port) };
}

function sayingWho(spoken: Log): Log {
  const who = { process: name };
  return {
    debug: (fields, event) => spoken.debug({ ...who, ...fields }, event),
    info: (fields, event) => spoken.info({ ...who, ...fields }, event),
    warn: (fields, event) => spoken.warn({ ...who, ...fields }, event),
    error: (fields, event) => spoken.error({ ...who, ...fields }, event),
  };
}

function said(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function ignore(): void {}
