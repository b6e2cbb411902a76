import { systemClock } from '../platform/time/clock.ts';
import { silentLog } from '../platform/log.ts';
import { connectionsAllowed } from '../platform/db/connections.ts';
import { durabilityFaults } from '../platform/db/facts.ts';
import { openDatabase } from '../platform/db/database.ts';
import { schemaState } from '../platform/db/schema-state.ts';
import type { InspectedConfig, Inspection } from './commands/checks.ts';
import { type Config, ConfigFaults } from './config.ts';
import { newestBackupIn } from './embedded-data.ts';
import { openDataLocation } from './prepare.ts';
import { connectionsNeeded } from './processes.ts';
import { findSecretFault } from './secrets.ts';

/** The data that `doctor` checks. Faults of the configuration are among its findings, not a reason to stop. */
export function inspect(config: Config | ConfigFaults, print: (line: string) => void): Inspection {
  return {
    nodeVersion: process.version,
    config: config instanceof ConfigFaults ? { faults: config.faults } : toInspected(config),
    async openDatabase() {
      if (config instanceof ConfigFaults) throw config;
      const location = await openDataLocation(config, { log: silentLog, print });
      try {
        const { connection, adminConnection } = location;
        const settings = { clock: systemClock, log: silentLog, poolMax: 1 };
        const db = await openDatabase({ ...settings, connection, namedStatements: false });
        // Without start-up options, so that it reads the settings of its role, and connects through a pooler too.
        const plain = { ...settings, connection: adminConnection, namedStatements: false };
        const direct = await openDatabase(plain).catch(async (error: unknown) => {
          await db.close();
          const why = error instanceof Error ? error.message : String(error);
          throw new Error(`by ADMIN_DATABASE_URL: ${why}`, { cause: error });
        });
        return {
          db,
          direct,
          connectionsAllowed: () => connectionsAllowed(direct),
          offsetMs: () => db.offsetMs(),
          durabilityFaults: () => durabilityFaults(db),
          schemaState: () => schemaState(adminConnection),
          secretFault: () => findSecretFault(db, config),
          async close() {
            await Promise.all([db.close(), direct.close()]);
            await location.release();
          },
        };
      } catch (error) {
        await location.release();
        throw error;
      }
    },
  };
}

const RELAY_WITHIN_MS = 10_000;

async function probe(smtpUrl: string | null): Promise<string | null> {
  const { probeRelay } = await import('../platform/mail/probe-relay.ts');
  return smtpUrl === null ? null : probeRelay(smtpUrl, { withinMs: RELAY_WITHIN_MS });
}

function backupsIn(folder: string, dataDir: string): NonNullable<InspectedConfig['backups']> {
  return {
    folder,
    newestAt: () => newestBackupIn(folder, dataDir),
    async archiveCommand(systemId) {
      const { archiveCommandOf } = await import('@beckon/postgres');
      return archiveCommandOf(folder, systemId);
    },
  };
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
    servesApi: config.roles.has('api'),
    pooled: config.database?.namedStatements === false,
    connectionsNeeded: connectionsNeeded(config),
    ...(config.roles.has('mail-in') ? { mailIn } : {}),
    ...(config.backupDir === null || config.database !== null
      ? {}
      : { backups: backupsIn(config.backupDir, dataDir) }),
    relay:
      config.smtpUrl === null
        ? null
        : { name: new URL(config.smtpUrl).host, probe: () => probe(config.smtpUrl) },
    ports: ports.filter(
      ({ variable, port }) => port !== 0 && (variable === 'METRICS_PORT' || config.roles.has('api')),
    ),
  };
}
