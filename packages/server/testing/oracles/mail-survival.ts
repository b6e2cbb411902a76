import { setTimeout as pause } from 'node:timers/promises';
import { systemClock } from '../../src/platform/time/clock.ts';
import { silentLog } from '../../src/platform/log.ts';
import { resumeDomain } from '../../src/modules/sending/domains/change-domain.ts';
import { setSettings } from '../../src/modules/administration/set-settings.ts';
import { type Database, openDatabase } from '../../src/platform/db/database.ts';
import { startDnsServer } from '../servers/dns-server.ts';
import { type FaultRelay, startFaultRelay } from '../servers/fault-relay.ts';
import { putRecords } from '../factories/ingest-queue.ts';
import { startPostfix } from '../servers/postfix.ts';
import { type Sink, startSink } from '../servers/smtp-sink.ts';
import { embeddedAddress, survivor, type Survivor } from './survival.ts';

/**
 * The product as it runs in production, in a process of its own with a verified domain. It submits to a real relay, and a receiving server
 * counts the emails. A relay that fails on demand is between them, and the process can be killed at any step.
 */
export type MailWorld = {
  server: Survivor;
  db: Database;
  faults: FaultRelay;
  sink: Sink;
  /** Makes this many of the waiting drafts due now and returns them. */
  fallDue(count: number): Promise<string[]>;
  /** Waits until each of these drafts has an end. Deferred emails are made due. */
  ended(drafts: string[]): Promise<void>;
  /** Counts the states of these drafts, and their copies at the receiving server. */
  tally(drafts: string[]): Promise<Tally>;
  /** Waits until the relay has delivered everything. */
  arrived(): Promise<void>;
  /** Resumes the domain if too many refusals stopped it, as a member would after a check. */
  looked(): Promise<void>;
  /** Blocks a worker that is about to write this state of an email, until it is killed. */
  holdAt(state: HeldState): Promise<Pick<Hold, 'untilReached'>>;
  /** Kills the worker with SIGKILL and ends its leases. Returns the emails that it had claimed. */
  kill(): Promise<InFlightCounts>;
  restart(): Promise<void>;
  stop(): Promise<void>;
};

export type InFlightCounts = { claimed: number; submitting: number };
export type HeldState = 'claimed' | 'submitting' | 'sent';
type Hold = { untilReached: () => Promise<void>; release: () => Promise<void> };

export type Tally = {
  emails: number;
  sent: number;
  unknown: number;
  failed: number;
  /** Drafts without an end. */
  open: number;
  /** Copies at the receiving server, by the state recorded here. */
  copies: { sent: number; unknown: number; others: number };
  /** Message-IDs with more than one copy. */
  doubled: string[];
};

/** The number of connections to the relay. */
export const SLOTS = 5;
const DOMAIN = 'mail.acme.test';
const PEOPLE_IN_ONE = 500;

export async function openMailWorld(dataDir: string, emails: number): Promise<MailWorld> {
  const sink = await startSink({ keep: false });
  const postfix = await startPostfix({ farEnd: sink.port });
  const faults = await startFaultRelay({ upstream: { port: postfix.port } });
  const dns = await startDnsServer();
  const { user, pass } = postfix.credentials;
  const server = await survivor(dataDir, {
    SMTP_URL: `smtp://${user}:${encodeURIComponent(pass)}@127.0.0.1:${faults.port}?connections=${SLOTS}`,
    PUBLIC_URL: 'https://beckon.acme.test',
    TRUST_PROXY: '127.0.0.1',
    MAIL_DOMAIN: 'in.acme.test',
    DNS_SERVERS: dns.servers.join(','),
    LOG_LEVEL: 'error',
  });
  await server.start();
  const { id: projectId } = (await server.product(['projects', 'create', 'Acme'])) as { id: number };
  const connection = (): ReturnType<typeof embeddedAddress> => embeddedAddress(dataDir);
  const db = await openDatabase({ connection, clock: systemClock, log: silentLog });
  await verifyDomain(server, dns);
  await setSettings(db, projectId, {
    autopilot: '24h',
    quiet_hours: 'off',
    frequency_cap: 'off',
    throttle: 'off',
    from_name: 'Acme',
    from_address: `hello@${DOMAIN}`,
    postal_address: '1 Main Street',
  });
  const waiting = await writeEmails(db, projectId, emails);
  const world: World = { server, db, projectId, sink };
  const holds: (() => Promise<void>)[] = [];
  return {
    server,
    db,
    faults,
    sink,
    fallDue: (count) => letFallDue(db, projectId, waiting.splice(0, count)),
    ended: (drafts) => ended(world, drafts),
    tally: (drafts) => tally(world, drafts),
    arrived: () => postfix.idle(),
    async looked() {
      await resumeDomain(db, { projectId, name: DOMAIN });
    },
    async holdAt(state) {
      const hold = await holdAt(world, state);
      holds.push(hold.release);
      return hold;
    },
    kill: () => kill(world, holds),
    async restart() {
      faults.plan(null);
      await server.start();
    },
    async stop() {
      await db.close();
      await server.stop();
      await faults.close();
      await postfix.stop();
      await Promise.all([sink.close(), dns.stop()]);
    },
  };
}

type World = { server: Survivor; db: Database; projectId: number; sink: Sink };
type DomainReply = { state: string; records: { type: 'TXT' | 'MX'; name: string; value: string }[] };

/** Adds a domain to the only project, publishes its DNS records, and checks it. */
export async function verifyDomain(
  server: Survivor,
  dns: Awaited<ReturnType<typeof startDnsServer>>,
): Promise<void> {
  const added = (await server.product(['domains', 'add', DOMAIN, '--skip-warmup'])) as DomainReply;
  for (const { type, name, value } of added.records) dns.set(type, name, [value]);
  const { state } = (await server.product(['domains', 'check', DOMAIN])) as DomainReply;
  if (state !== 'verified') throw new Error(`the domain is ${state}`);
}

/** Signs up this many users and writes a draft for each that is sent in a day. */
export async function writeEmails(db: Database, projectId: number, emails: number): Promise<string[]> {
  const people = Array.from({ length: emails }, (_, n) => `u${n}`);
  for (let from = 0; from < emails; from += PEOPLE_IN_ONE) {
    const batch = people.slice(from, from + PEOPLE_IN_ONE);
    const users = batch.map((userId, n) => ({
      external_user_id: userId,
      email: `${userId}@home${n % 7}.test`,
      traits: { name: userId },
    }));
    const events = batch.map((userId) => ({
      external_user_id: userId,
      name: 'user_signed_up',
      properties: {},
    }));
    await putRecords(db, { projectId, kind: 'users', records: users });
    await putRecords(db, { projectId, kind: 'events', records: events });
  }
  for (;;) {
    const drafts = await db.query<{ id: string }>(
      `SELECT id FROM beckon.draft WHERE project_id = $1 AND state = 'scheduled' ORDER BY id`,
      [projectId],
    );
    if (drafts.length === emails) return drafts.map((draft) => draft.id);
    await pause(50);
  }
}

export async function letFallDue(db: Database, projectId: number, drafts: string[]): Promise<string[]> {
  await db.query(
    `UPDATE beckon.draft SET deadline_at = now(), due_at = now() WHERE project_id = $1 AND id = ANY ($2::uuid[])`,
    [projectId, drafts],
  );
  await lookNow(db, projectId);
  return drafts;
}

async function lookNow(db: Database, projectId: number): Promise<void> {
  await db.query(`UPDATE beckon.project_timer SET next_at = now() WHERE project_id = $1 AND work = 'send'`, [
    projectId,
  ]);
}

type Row = { id: string; message: string | null; state: string; reason: string | null; draft: string };

async function rowsOf({ db, projectId }: World, drafts: string[]): Promise<Row[]> {
  return db.query<Row>(
    `SELECT d.id, m.id AS message, coalesce(m.state, 'waits') AS state, m.reason, d.state AS draft
     FROM beckon.draft d LEFT JOIN beckon.email m ON m.project_id = d.project_id AND m.draft_id = d.id
     WHERE d.project_id = $1 AND d.id = ANY ($2::uuid[])`,
    [projectId, drafts],
  );
}

const ENDS = ['sent', 'unknown', 'failed'];

async function ended(world: World, drafts: string[]): Promise<void> {
  const { db, projectId } = world;
  for (;;) {
    const rows = await rowsOf(world, drafts);
    if (rows.every(({ state }) => ENDS.includes(state))) return;
    const putOff = rows.filter(({ state }) => state === 'deferred').map(({ id }) => id);
    const isInFlight = rows.some(({ state }) => state === 'claimed' || state === 'submitting');
    // Emails that were claimed before a domain was stopped also stay held until the domain is resumed.
    await letStoppedGoOn(db, projectId);
    // All emails of one round are retried together, as they are after a minute.
    if (putOff.length > 0 && !isInFlight) await tryAgain(db, projectId, putOff);
    await pause(30);
  }
}

async function letStoppedGoOn(db: Database, projectId: number): Promise<void> {
  const stopped = await db.query(
    `SELECT 1 FROM beckon.sending_domain WHERE project_id = $1 AND paused_at IS NOT NULL`,
    [projectId],
  );
  if (stopped.length > 0) await resumeDomain(db, { projectId, name: DOMAIN });
}

async function tryAgain(db: Database, projectId: number, drafts: string[]): Promise<void> {
  const moved = await db.query(
    `UPDATE beckon.draft SET due_at = now() WHERE project_id = $1 AND id = ANY ($2::uuid[]) AND state = 'held' AND due_at > now()
     RETURNING 1`,
    [projectId, drafts],
  );
  if (moved.length > 0) await lookNow(db, projectId);
}

async function tally(world: World, drafts: string[]): Promise<Tally> {
  const rows = await rowsOf(world, drafts);
  const copiesOf = ({ message }: Row): number => world.sink.copies.get(`${message}@${DOMAIN}`) ?? 0;
  const inState = (state: string): Row[] => rows.filter((row) => row.state === state);
  const sum = (subset: Row[]): number => subset.reduce((all, row) => all + copiesOf(row), 0);
  const [sent, unknown, failed] = [inState('sent'), inState('unknown'), inState('failed')];
  const others = rows.filter(({ state }) => state !== 'sent' && state !== 'unknown');
  return {
    emails: rows.length,
    sent: sent.length,
    unknown: unknown.length,
    failed: failed.length,
    open: rows.length - sent.length - unknown.length - failed.length,
    copies: { sent: sum(sent), unknown: sum(unknown), others: sum(others) },
    doubled: rows.flatMap((row) => (copiesOf(row) > 1 ? [row.message ?? ''] : [])),
  };
}

const LOCK = 471_100;

/** A trigger in the database waits for a lock that we hold: the worker blocks in the middle of its statement. */
async function holdAt({ db }: World, state: HeldState): Promise<Hold> {
  await db.query(`CREATE SCHEMA IF NOT EXISTS hold`);
  await db.query(`CREATE OR REPLACE FUNCTION hold.wait() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN PERFORM pg_advisory_xact_lock_shared(${LOCK}); RETURN NEW; END'`);
  await db.query(
    `CREATE TRIGGER hold BEFORE INSERT OR UPDATE ON beckon.email FOR EACH ROW WHEN (NEW.state = '${state}') EXECUTE FUNCTION hold.wait()`,
  );
  const ended = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const holding = db.transaction(async (tx) => {
    await tx.query(`SELECT pg_advisory_xact_lock(${LOCK})`);
    held.resolve();
    await ended.promise;
  });
  await held.promise;
  const waiting = (): Promise<{ pid: number }[]> =>
    db.query(`SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = ${LOCK} AND NOT granted`);
  return {
    async untilReached() {
      while ((await waiting()).length === 0) await pause(10);
    },
    async release() {
      // Statements of a killed process must not run later.
      for (const { pid } of await waiting()) await db.query(`SELECT pg_terminate_backend(${pid})`);
      while ((await waiting()).length > 0) await pause(10);
      ended.resolve();
      await holding;
      await db.query(`DROP TRIGGER hold ON beckon.email`);
    },
  };
}

async function kill(
  { server, db, projectId }: World,
  holds: (() => Promise<void>)[],
): Promise<InFlightCounts> {
  await server.killServer();
  for (const letGo of holds.splice(0)) await letGo();
  const rows = await db.query<{ state: string }>(
    `UPDATE beckon.email SET next_at = now() WHERE project_id = $1 AND next_at IS NOT NULL RETURNING state`,
    [projectId],
  );
  await lookNow(db, projectId);
  const count = (state: string): number => rows.filter((row) => row.state === state).length;
  return { claimed: count('claimed'), submitting: count('submitting') };
}
