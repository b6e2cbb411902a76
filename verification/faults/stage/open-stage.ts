import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../../packages/server/src/platform/time/clock.ts';
import { silentLog } from '../../../packages/server/src/platform/log.ts';
import { type Database, openDatabase } from '../../../packages/server/src/platform/db/database.ts';
import { migrate } from '../../../packages/server/src/platform/db/migrate.ts';
import { openSecrets } from '../../../packages/server/src/main/secrets.ts';
import { type DnsServer, startDnsServer } from '../../../packages/server/testing/servers/dns-server.ts';
import { freePort } from '../../../packages/server/testing/servers/free-port.ts';
import { HOOK_CA_FILE } from '../../../packages/server/testing/servers/hook-server.ts';
import type { Role, Stage, Wire } from '../fault.ts';
import { openWire } from '../inject/tcp-proxy.ts';
import { openJournal, type World } from '../journal.ts';
import { type Child, ended, launch } from './child.ts';
import type { Cluster } from './cluster.ts';
import { followJournal } from './follow.ts';
import { createInFlight } from './in-flight.ts';
import { type Supervised, supervise } from './supervise.ts';
import { MAIL, makeWorld, RELAY_KINDS, SECRET, type WorldDeps, worldDeps } from './world.ts';

/** A stage with the operations that only the run itself uses. */
export type OpenStage = Omit<Stage, 'victims'> & {
  cluster: Cluster;
  victims: Supervised[];
  /** Connects directly, not through the wire. */
  db: Database;
  dns: DnsServer;
  deps: WorldDeps;
  world: World;
  saveWorld(): void;
  /** Sends a command to the load process. */
  sendToLoad(command: string): void;
  /** Ends the faults of the providers. They deliver their reports from now on. */
  endProviderFaults(): void;
  /** Returns how many reports of the providers are not acknowledged yet. */
  reportsLeft(): number;
  /** Finishes requests under way and starts no new ones. Returns false if that took too long. */
  endLoad(withinMs: number): Promise<boolean>;
  stopProduct(): Promise<void>;
  /** Closes everything except PostgreSQL and the database's files. */
  close(): Promise<void>;
  /** Rejects if a sink or the load process exits early. It never resolves. */
  broken: Promise<never>;
  /** Starts no new faults, and lets those under way end. */
  endFaults(): void;
};

export type StageOptions = { dir: string; seed: number; minutes: number; perSecond: number };

type ClosingWire = Wire & { close(): Promise<void> };
type Wires = Record<'database' | 'smtp' | 'hooks', ClosingWire> & {
  apis: ClosingWire[];
  providers: ClosingWire[];
};

const ROLES: Role[] = ['api', 'api', 'worker', 'worker', 'mail-in'];
const APIS = ROLES.filter((role) => role === 'api').length;

export async function openStage(cluster: Cluster, options: StageOptions): Promise<OpenStage> {
  const { dir, seed, perSecond } = options;
  const journal = openJournal(dir, 'faults');
  const dns = await startDnsServer();
  await migrate(() => ({ connectionString: cluster.url() }));
  const db = await openDatabase({
    connection: () => ({ connectionString: cluster.url() }),
    clock: systemClock,
    log: silentLog,
  });
  // The secret is stored before several processes start at once.
  await openSecrets({ db, clock: db.clock }, { dataDir: dir, secretKey: SECRET, secretKeyPrevious: null });
  const ports = { smtp: await freePort(), hooks: await freePort(), mailIn: await freePort() };
  const apiPorts = await freePorts(APIS);
  const script = (name: string, path: string, env: Record<string, string>): Promise<Child> =>
    launch({
      name,
      script: `verification/faults/${path}`,
      dir,
      readyWhen: 'ready',
      env: { FAULTS_DIR: dir, FAULTS_SEED: String(seed), ...prefixed(env) },
    });
  const providers = await script('relays', 'sinks/relays-process.ts', {
    TARGETS: apiPorts.map((port) => `http://127.0.0.1:${port}`).join(','),
  });
  const providerPorts = RELAY_KINDS.map((kind) => Number(providers.facts[kind]));
  const wires = await openWires(cluster, ports, { apiPorts, providerPorts });
  const deps = worldDeps(db, dns);
  const world = await makeWorld(deps, {
    ...options,
    databaseUrl: cluster.url(),
    hooksPort: wires.hooks.port,
    relayPorts: Object.fromEntries(RELAY_KINDS.map((kind, n) => [kind, wires.providers[n]?.port ?? 0])),
  });
  const saveWorld = (): void => {
    // Written to a temporary file, so that no reader sees half of it.
    const partial = join(dir, 'world.draft');
    writeFileSync(partial, JSON.stringify(world, null, 1));
    renameSync(partial, join(dir, 'world.json'));
  };
  saveWorld();
  const sinks = [
    await script('smtp', 'sinks/smtp-process.ts', { PORT: String(ports.smtp) }),
    await script('hooks', 'sinks/hook-process.ts', { PORT: String(ports.hooks) }),
    providers,
  ];
  const env = {
    SECRET_KEY: SECRET,
    SMTP_URL: `smtp://127.0.0.1:${wires.smtp.port}?connections=5`,
    PUBLIC_URL: 'https://beckon.acme.test',
    TRUST_PROXY: '127.0.0.1',
    MAIL_DOMAIN: MAIL.mailDomain ?? '',
    MAIL_FROM: 'beckon@acme.test',
    DNS_SERVERS: dns.servers.join(','),
    WEBHOOK_ALLOW_PRIVATE: 'true',
    NODE_EXTRA_CA_CERTS: HOOK_CA_FILE,
    LOG_LEVEL: 'warn',
    DATA_DIR: dir,
  };
  const inFlight = createInFlight({
    db,
    loadJournal: join(dir, 'load.jsonl'),
    ports: { smtp: wires.smtp.port, hooks: wires.hooks.port, mailIn: ports.mailIn },
  });
  const victims: Supervised[] = [];
  for (const [n, role] of ROLES.entries()) {
    const name = `${role}-${ROLES.slice(0, n).filter((other) => other === role).length + 1}`;
    const login = await cluster.addLogin(name);
    const wire = role === 'api' ? wires.apis[n] : undefined;
    const url = wire ? `http://127.0.0.1:${wire.port}` : null;
    victims.push(
      supervise({
        name,
        role,
        url,
        dir,
        env: {
          ...env,
          ROLES: role,
          DATABASE_URL: cluster.url(login).replace(`:${cluster.port}/`, `:${wires.database.port}/`),
          PORT: String(apiPorts[n] ?? 0),
          MAIL_IN_PORT: String(role === 'mail-in' ? ports.mailIn : 0),
        },
        inFlight: (pid) => inFlight({ role, login: login.user, url, pid }),
      }),
    );
  }
  // Starts them one after the other: two cores start five processes no faster in parallel.
  for (const victim of victims) await victim.start();
  const targets = victims.flatMap(({ url }) => url ?? []).join(',');
  const load = await script('load', 'load/load-process.ts', {
    TARGETS: targets,
    PER_SECOND: String(perSecond),
  });
  const readers = await script('readers', 'load/reader-process.ts', {
    TARGETS: targets,
    MAIL_IN_PORT: String(ports.mailIn),
  });
  let [isRunning, isEnding] = [true, false];
  const { promise: broken, reject: failRun } = Promise.withResolvers<never>();
  broken.catch(() => {});
  for (const { process: child } of [load, readers, ...sinks])
    child.once('exit', () => {
      if (!isEnding) failRun(new Error(`${child.spawnargs.at(-1) ?? ''} ended: see the logs in ${dir}`));
    });
  const stopProduct = async (): Promise<void> => {
    await Promise.all(victims.map((victim) => victim.stop()));
  };
  return {
    dir,
    cluster,
    victims,
    db,
    dns,
    deps,
    world,
    saveWorld,
    journal,
    wires: { ...wires, api: combineWires(wires.apis), relays: combineWires(wires.providers) },
    postgres: cluster,
    setBadEndpoint: (mode) => sendCommand(sinks[1], mode === null ? 'mode' : `mode ${mode}`),
    isRunning: () => isRunning,
    endFaults() {
      isRunning = false;
    },
    endProviderFaults: () => sendCommand(providers, 'fine'),
    reportsLeft: countReports(join(dir, 'relays.jsonl')),
    sendToLoad: (text) => sendCommand(load, text),
    broken,
    async endLoad(withinMs) {
      isEnding = true;
      for (const child of [load, readers]) sendCommand(child, 'stop');
      const limit = new Promise<boolean>((resolve) => {
        setTimeout(() => resolve(false), withinMs).unref();
      });
      const both = Promise.all([load, readers].map((child) => ended(child.process))).then(() => true);
      return Promise.race([both, limit]);
    },
    stopProduct,
    async close() {
      isEnding = true;
      await stopProduct();
      for (const { process: child } of [load, readers, ...sinks]) {
        child.kill('SIGKILL');
        await ended(child);
      }
      await db.close();
      await dns.stop();
      await Promise.all(
        [wires.database, wires.smtp, wires.hooks, ...wires.providers, ...wires.apis].map((wire) =>
          wire.close(),
        ),
      );
      journal.close();
    },
  };
}

async function openWires(
  cluster: Cluster,
  ports: { smtp: number; hooks: number },
  { apiPorts, providerPorts }: { apiPorts: number[]; providerPorts: number[] },
): Promise<Wires> {
  const apis: ClosingWire[] = [];
  const providers: ClosingWire[] = [];
  for (const port of apiPorts) apis.push(await openWire({ port }));
  for (const port of providerPorts) providers.push(await openWire({ port }));
  return {
    database: await openWire({ port: cluster.port }),
    smtp: await openWire({ port: ports.smtp }),
    hooks: await openWire({ port: ports.hooks }),
    apis,
    providers,
  };
}

/** Combines several wires, so that a fault hits all of them. */
function combineWires(wires: Wire[]): Wire {
  return {
    port: wires[0]?.port ?? 0,
    inject: (fault) => wires.forEach((wire) => wire.inject(fault)),
    restore: () => wires.forEach((wire) => wire.restore()),
  };
}

function countReports(journal: string): () => number {
  const entries = followJournal(journal);
  const left = new Set<string>();
  return () => {
    for (const entry of entries()) {
      if (entry.kind === 'report') left.add(entry.id);
      if (entry.kind === 'reported') left.delete(entry.id);
    }
    return left.size;
  };
}

async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) ports.push(await freePort());
  return ports;
}

function prefixed(env: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [`FAULTS_${name}`, value]));
}

function sendCommand(child: Child | undefined, text: string): void {
  child?.process.stdin?.write(`${text}\n`);
}
