import { systemClock, type Clock } from '../../src/platform/time/clock.ts';
import { silentLog, type Log } from '../../src/platform/log.ts';
import { createKey } from '../../src/modules/ingest/keys/change-key.ts';
import { createProject } from '../../src/modules/administration/create-project.ts';
import type { SendServices } from '../../src/modules/delivery/send-services.ts';
import type { Transport } from '../../src/modules/delivery/transport.ts';
import type { TeamTransport } from '../../src/modules/delivery/team-email.ts';
import { openDatabase, type Database } from '../../src/platform/db/database.ts';
import { type RunningServer, startServer } from '../../src/main/wire.ts';
import { testDatabase, type TestDatabase } from '../factories/database.ts';
import { testMail } from '../factories/send-services.ts';
import type { ServerOptions } from '../../src/main/options.ts';

export type TestServer = {
  url: string;
  database: TestDatabase;
  /** For reading what the server stored. */
  db: Database;
  ports: RunningServer['ports'];
  stop(): Promise<void>;
};

export type TestServerOptions = {
  clock?: Clock;
  log?: Log;
  /** Another server's database, for tests of sharing. */
  database?: TestDatabase;
  listen?: Partial<ServerOptions['listen']>;
  minimumVersions?: ReadonlyMap<string, string>;
  /** The destination of emails, by default the test inbox. */
  transport?: Transport;
  smtpUrl?: string;
  sendServices?: Partial<SendServices>;
  /** The destination of emails to the team, by default the test inbox. */
  teamTransport?: TeamTransport;
  /** Other options that a test changes. */
  more?: Partial<ServerOptions>;
  /** Both by default. Without a worker, records stay where the accept path put them. */
  roles?: ('api' | 'worker')[];
};

export const PEPPER = Buffer.alloc(32, 7);

export async function testServer(options: TestServerOptions = {}): Promise<TestServer> {
  const database = options.database ?? (await testDatabase());
  const clock = options.clock ?? systemClock;
  const log = options.log ?? silentLog;
  const server = await startServer({
    connection: database.connection,
    adminConnection: database.connection,
    namedStatements: true,
    pepper: { current: PEPPER, previous: null },
    clock,
    log,
    release: { version: '0.0.0', node: process.version },
    roles: new Set(options.roles ?? ['api', 'worker']),
    minimumVersions: options.minimumVersions ?? new Map(),
    ...testMail(options.sendServices),
    teamSecrets: ['a secret of these tests alone, and long enough for that'],
    smtpUrl: options.smtpUrl ?? null,
    mailFrom: null,
    ...(options.transport ? { transport: options.transport } : {}),
    ...(options.teamTransport ? { teamTransport: options.teamTransport } : {}),
    listen: {
      host: '127.0.0.1',
      port: 0,
      publicUrl: 'http://localhost',
      tls: null,
      trustProxy: [],
      redirectPort: null,
      metricsPort: null,
      ...options.listen,
    },
    ...options.more,
  });
  const db = await openDatabase({ connection: database.connection, clock, log });
  return {
    url: `http://127.0.0.1:${server.ports.http}`,
    database,
    db,
    ports: server.ports,
    async stop() {
      await server.stop();
      await db.close();
      if (!options.database) await database.drop();
    },
  };
}

export type TestProject = { id: number; keyId: string; secret: string };

export async function testProject({ db }: Pick<TestServer, 'db'>): Promise<TestProject> {
  const { id } = await createProject(db, { name: 'Acme' });
  const key = await createKey({ db, pepper: PEPPER }, { projectId: id, label: 'server' });
  return { id, keyId: key.id, secret: key.secret };
}
