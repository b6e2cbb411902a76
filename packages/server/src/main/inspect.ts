import { systemClock } from '../base/clock.ts';
import { silentLog } from '../base/log.ts';
import { durabilityFaults, openDatabase, pendingMigrations } from '../io/db/index.ts';
import type { InspectedConfig, Inspection } from '../operator/index.ts';
import { type Config, ConfigFaults } from './config.ts';
import { findPlace } from './prepare.ts';
import { findSecretFault } from './secrets.ts';

/** What `doctor` looks at; faults of the configuration are among it, not a reason to stop. */
export function inspect(config: Config | ConfigFaults, print: (line: string) => void): Inspection {
  return {
    nodeVersion: process.version,
    config: config instanceof ConfigFaults ? { faults: config.faults } : toInspected(config),
    async openDatabase() {
      if (config instanceof ConfigFaults) throw config;
      const place = await findPlace(config, { log: silentLog, print });
      try {
        const { connection, adminConnection } = place;
        const db = await openDatabase({ connection, clock: systemClock, log: silentLog, poolMax: 1 });
        return {
          db,
          offsetMs: () => db.offsetMs(),
          durabilityFaults: () => durabilityFaults(db),
          pendingMigrations: () => pendingMigrations(adminConnection),
          secretFault: () => findSecretFault(db, config),
          async close() {
            await db.close();
            await place.release();
          },
        };
      } catch (error) {
        await place.release();
        throw error;
      }
    },
  };
}

const RELAY_WITHIN_MS = 10_000;

async function probe(smtpUrl: string | null): Promise<string | null> {
  const { probeRelay } = await import('../io/mail/index.ts');
  return smtpUrl === null ? null : probeRelay(smtpUrl, { withinMs: RELAY_WITHIN_MS });
}

function toInspected(config: Config): InspectedConfig {
  const ports = [
    { variable: 'PORT', port: config.port, tls: config.tls !== null },
    { variable: 'HTTP_REDIRECT_PORT', port: config.redirectPort ?? 0, tls: false },
    { variable: 'METRICS_PORT', port: config.metricsPort ?? 0, tls: false },
  ];
  const { host: mailHost, port: mailPort } = config.mailIn;
  const mailIn = { host: mailHost, port: mailPort, domain: config.mailDomain };
  const { warnings, dataDir, publicUrl, host, tls } = config;
  return {
    warnings,
    dataDir,
    publicUrl,
    host,
    tls,
    embedded: config.database === null,
    ...(config.roles.has('mail-in') ? { mailIn } : {}),
    relay:
      config.smtpUrl === null
        ? null
        : { name: new URL(config.smtpUrl).host, probe: () => probe(config.smtpUrl) },
    ports: ports.filter(
      ({ variable, port }) => port !== 0 && (variable === 'METRICS_PORT' || config.roles.has('api')),
    ),
  };
}
