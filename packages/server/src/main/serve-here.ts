import { systemClock } from '../platform/time/clock.ts';
import type { FailpointHook } from '../platform/failpoints.ts';
import { createLifecycle } from '../platform/async/lifecycle.ts';
import type { Log } from '../platform/log.ts';
import { openModel } from '../modules/templates/index.ts';
import type { Config } from './config.ts';
import { openDashboard, openGuide } from './built-pages.ts';
import { openSendServices, webhookAgent } from './open-send-services.ts';
import { embeddedData } from './embedded-data.ts';
import type { DataLocation } from './prepare.ts';
import type { ReadRelease } from './release.ts';
import type { Secrets } from './secrets.ts';
import { type RunningServer, startServer } from './wire.ts';

export type ServeContext = {
  location: Pick<DataLocation, 'connection' | 'adminConnection'>;
  secrets: Secrets;
  log: Log;
  release: ReadRelease;
  /** Returns the counts of all processes, if this is one of several. */
  countedByAll?: () => Promise<string>;
  failpoint?: FailpointHook;
};

/** Runs the server in this process, over a database that is ready. Its stop closes everything that it opened. */
export async function serveHere(config: Config, context: ServeContext): Promise<RunningServer> {
  const { location, secrets, log, release, countedByAll, failpoint } = context;
  const life = createLifecycle(log);
  const mail = openSendServices(config, secrets.encrypter, systemClock);
  life.onStop('rendering', () => mail.sendServices.renderer.close());
  try {
    const server = await startServer({
      connection: location.connection,
      adminConnection: location.adminConnection,
      namedStatements: config.database?.namedStatements ?? true,
      ...secrets,
      ...mail,
      smtpUrl: config.smtpUrl,
      mailIn: config.mailIn,
      mailFrom: config.mailFrom,
      webhooks: { allowPrivate: config.webhookAllowPrivate, agent: webhookAgent(release.version) },
      dashboard: await openDashboard({ log, life }),
      guide: openGuide({ log, life }),
      model: config.model && openModel(config.model),
      clock: systemClock,
      log,
      release,
      roles: config.roles,
      listen: config,
      minimumVersions: config.minimumVersions,
      projectsMax: config.projectsMax,
      localShell: config.localShell,
      restoreGuard: config.restoreGuard,
      embedded: embeddedData(config),
      ...(countedByAll ? { countedByAll } : {}),
      ...(failpoint ? { failpoint } : {}),
    });
    return {
      ...server,
      async stop() {
        await server.stop();
        await life.stop();
      },
    };
  } catch (error) {
    await life.stop();
    throw error;
  }
}

/** Files that do not match are reported, and the old certificate stays in use. */
export function reload({ reloadCertificate, log }: Pick<RunningServer, 'reloadCertificate' | 'log'>): void {
  try {
    reloadCertificate();
    log.info({}, 'certificate.reloaded');
  } catch (error) {
    log.error({ err: error }, 'certificate.not_reloaded');
  }
}
