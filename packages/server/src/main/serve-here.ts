import { systemClock } from '../platform/time/clock.ts';
import type { FailpointHook } from '../platform/failpoints.ts';
import { createLifecycle } from '../platform/async/lifecycle.ts';
import type { Log } from '../platform/log.ts';
import { openModel } from '../modules/templates/index.ts';
import type { Config } from './config.ts';
import { openDashboard, openGuide } from './built-pages.ts';
import { openMailroom, webhookAgent } from './mailroom.ts';
import { embeddedData } from './embedded-data.ts';
import type { DataLocation } from './prepare.ts';
import type { ReadRelease } from './release.ts';
import type { Secrets } from './secrets.ts';
import { type RunningServer, startServer } from './wire.ts';

export type Here = {
  place: Pick<DataLocation, 'connection' | 'adminConnection'>;
  secrets: Secrets;
  log: Log;
  release: ReadRelease;
  /** Returns the counts of all processes, if this is one of several. */
  countedByAll?: () => Promise<string>;
  reach?: FailpointHook;
};

/** Runs the server in this process, over a database that is ready. Its stop closes everything that it opened. */
export async function serveHere(config: Config, here: Here): Promise<RunningServer> {
  const { place, secrets, log, release, countedByAll, reach } = here;
  const life = createLifecycle(log);
  const mail = openMailroom(config, secrets.sealer, systemClock);
  life.onStop('rendering', () => mail.mailroom.renderer.close());
  try {
    const server = await startServer({
      connection: place.connection,
      adminConnection: place.adminConnection,
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
      ...(reach ? { reach } : {}),
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
