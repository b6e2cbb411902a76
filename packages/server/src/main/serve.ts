import type { OperatorServer } from './commands/operator.ts';
import type { Config } from './config.ts';
import { reportCrash } from './crash-report.ts';
import type { ServerHandle } from './options.ts';
import { openDataLocation, FOR_A_MOMENT, type DataLocation, prepareServer } from './prepare.ts';
import { isSingleProcess } from './processes.ts';
import type { ReadRelease } from './release.ts';
import { type Secrets, configSecrets } from './secrets.ts';
import { reload, serveHere } from './serve-here.ts';
import { offerSetup } from '../modules/workspace/index.ts';
import { openDatabase } from '../platform/db/database.ts';
import type { FailpointHook } from '../platform/failpoints.ts';
import { createLog, type Log } from '../platform/log.ts';

type Voice = {
  logTo: 'stdout' | 'stderr';
  print: (line: string) => void;
  release: ReadRelease;
  /** See `ServerOptions`. */
  failpoint?: FailpointHook;
};

/** Runs the server over its database. The database is opened first and released last. */
export async function serve(config: Config, voice: Voice): Promise<OperatorServer> {
  const log = createLog(config.logLevel, voice.logTo === 'stdout' ? 1 : 2, configSecrets(config));
  reportCrash((error) => log.error({ err: error }, 'process.failed'));
  const location = await openDataLocation(config, { log, print: voice.print });
  try {
    const secrets = await prepareServer(config, location, log);
    const running = await start(config, { ...voice, location, secrets, log });
    const stopReloading = reloadOnHangup(running);
    const url = addressOf(config, running);
    return {
      url,
      setUpUrl: config.roles.has('api') ? await setUpLink(location, { publicUrl: url, log }) : null,
      warnings: config.warnings,
      async stop() {
        stopReloading();
        await running.stop();
        await location.release();
      },
    };
  } catch (error) {
    await location.release();
    throw error;
  }
}

type Ready = Omit<Voice, 'print'> & { location: DataLocation; secrets: Secrets; log: Log };

async function start(config: Config, ready: Ready): Promise<ServerHandle> {
  if (!isSingleProcess(config)) {
    const { supervise } = await import('./supervise.ts');
    return supervise(config, ready);
  }
  const server = await serveHere(config, ready);
  return { httpPort: server.ports.http, reload: () => reload(server), stop: () => server.stop() };
}

/** After a renewal: `kill -HUP`. */
function reloadOnHangup(running: ServerHandle): () => void {
  const onHangup = (): void => running.reload();
  process.on('SIGHUP', onHangup);
  return () => process.off('SIGHUP', onHangup);
}

/** With PORT=0 the address is only known now. */
function addressOf({ publicUrl, port }: Config, { httpPort }: ServerHandle): string {
  return port === 0 && httpPort !== null ? publicUrl.replace(/:0$/, `:${httpPort}`) : publicUrl;
}

/** Returns the sign-up link of the first member, or null once the installation has an owner. */
async function setUpLink(
  { connection }: Pick<DataLocation, 'connection'>,
  { publicUrl, log }: { publicUrl: string; log: Log },
): Promise<string | null> {
  const db = await openDatabase({ ...FOR_A_MOMENT, connection, log });
  try {
    return (await offerSetup(db, publicUrl))?.url ?? null;
  } finally {
    await db.close();
  }
}
