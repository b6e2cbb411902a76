import { systemClock } from '../base/clock.ts';
import { createLifecycle } from '../base/lifecycle.ts';
import { createLog, type Log } from '../base/log.ts';
import type { Served } from '../operator/index.ts';
import { openModel } from '../io/model/index.ts';
import type { Config } from './config.ts';
import { openDashboard } from './dashboard.ts';
import { openGuide } from './guide.ts';
import { openMailroom, webhookAgent } from './mailroom.ts';
import { findPlace, prepareServer } from './prepare.ts';
import { setUpLink } from './set-up-link.ts';
import { type RunningServer, startServer } from './wire.ts';

type Voice = {
  logTo: 'stdout' | 'stderr';
  print: (line: string) => void;
  release: { version: string; node: string };
};

/** The server over its database: what was opened first (the database) is let go last. */
export async function serve(config: Config, voice: Voice): Promise<Served> {
  const log = createLog(config.logLevel, voice.logTo === 'stdout' ? 1 : 2);
  const place = await findPlace(config, { log, print: voice.print });
  const life = createLifecycle(log);
  try {
    const secrets = await prepareServer(config, place, log);
    const server = await startServer({
      connection: place.connection,
      adminConnection: place.adminConnection,
      namedStatements: config.database?.namedStatements ?? true,
      ...secrets,
      ...openMailroom(config, secrets.sealer, systemClock),
      smtpUrl: config.smtpUrl,
      mailIn: config.mailIn,
      mailFrom: config.mailFrom,
      webhooks: { allowPrivate: config.webhookAllowPrivate, agent: webhookAgent(voice.release.version) },
      dashboard: await openDashboard({ log, life }),
      guide: openGuide({ log, life }),
      model: config.model && openModel(config.model),
      clock: systemClock,
      log,
      release: voice.release,
      roles: config.roles,
      listen: config,
      minimumVersions: config.minimumVersions,
    });
    const stopReloading = reloadOnHangup(server, log);
    const url = addressOf(config, server);
    return {
      url,
      setUpUrl: config.roles.has('api') ? await setUpLink(place, { publicUrl: url, log }) : null,
      warnings: config.warnings,
      async stop() {
        stopReloading();
        await server.stop();
        await life.stop();
        await place.release();
      },
    };
  } catch (error) {
    await life.stop();
    await place.release();
    throw error;
  }
}

/** After a renewal: `kill -HUP`. Files that are no pair are reported, and the old certificate stays in service. */
function reloadOnHangup(server: RunningServer, log: Log): () => void {
  const reload = (): void => {
    try {
      server.reloadCertificate();
      log.info({}, 'certificate.reloaded');
    } catch (error) {
      log.error({ err: error }, 'certificate.not_reloaded');
    }
  };
  process.on('SIGHUP', reload);
  return () => process.off('SIGHUP', reload);
}

/** With PORT=0 the address is only known now. */
function addressOf({ publicUrl, port }: Config, { ports }: RunningServer): string {
  return port === 0 && ports.http !== null ? publicUrl.replace(/:0$/, `:${ports.http}`) : publicUrl;
}
