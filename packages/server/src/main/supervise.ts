import cluster, { type Worker } from 'node:cluster';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import type { Log } from '../platform/log.ts';
import { createLifecycle, type Lifecycle } from '../platform/async/lifecycle.ts';
import { createMetricsServer } from '../modules/operations/metrics/endpoints.ts';
import type { Config } from './config.ts';
import { countAll } from './count-all.ts';
import { ManagedProcess, stopProcesses } from './keep-process.ts';
import { closed, listening, listens, portOf } from './listening.ts';
import { COUNTS_CONTENT_TYPE } from './merged-counts.ts';
import { type ProcessMessage, type ProcessRef, partsOf } from './processes.ts';
import type { ServerHandle } from './options.ts';

export type Watch = { log: Log; logTo: 'stdout' | 'stderr' };

const CHILD = fileURLToPath(new URL('child.ts', import.meta.url));

/**
 * Supervises several processes over one database. It owns everything that exists once: the embedded database, the shared port, and
 * `METRICS_PORT`. It restarts processes that end, and does none of their work.
 */
export async function supervise(config: Config, { log, logTo }: Watch): Promise<ServerHandle> {
  const port = config.roles.has('api') ? await choosePort(config) : null;
  const processes: ManagedProcess[] = [];
  const counts = countAll(() => processes);
  const fork = ({ role, number }: ProcessRef): Worker => {
    cluster.setupPrimary({ exec: CHILD, args: [role, String(number), String(port ?? 0), logTo] });
    return cluster.fork();
  };
  const onMessage = (managed: ManagedProcess, message: ProcessMessage): void => {
    if (message.kind === 'counted') counts.counted(managed, message);
    if (message.kind !== 'counts_requested') return;
    void counts.text().then((text) => managed.send({ kind: 'text', id: message.id, text }));
  };
  for (const part of partsOf(config))
    processes.push(new ManagedProcess(part, { fork, onMessage, ended: counts.ended, log }));
  const life = createLifecycle(log);
  const stopAll = async (): Promise<void> =>
    void (await Promise.all([stopProcesses(processes), life.stop()]));
  try {
    await Promise.all(processes.map(({ ready }) => ready));
    await startMetrics(config, { life, text: counts.text });
  } catch (error) {
    await stopAll();
    throw error;
  }
  return {
    httpPort: port,
    reload() {
      for (const managed of processes) managed.send({ kind: 'reload' });
    },
    stop: stopAll,
  };
}

/** With PORT=0, chooses one free port for all processes, including later ones. */
async function choosePort({ port, host }: Config): Promise<number> {
  if (port !== 0) return port;
  const probe = createServer();
  await listens({ variable: 'PORT', host, port }, listening(probe, { host, port }));
  const chosen = portOf(probe);
  await closed(probe);
  return chosen;
}

async function startMetrics(
  { metricsPort: port, host }: Config,
  { life, text }: { life: Lifecycle; text: () => Promise<string> },
): Promise<void> {
  if (port === null) return;
  const server = createMetricsServer({ text, contentType: COUNTS_CONTENT_TYPE });
  const address = { variable: 'METRICS_PORT', host, port };
  await listens(address, listening(server, address));
  life.onStop('metrics', () => closed(server));
}
