import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../packages/server/src/platform/time/clock.ts';
import { silentLog } from '../packages/server/src/platform/log.ts';
import { setSettings } from '../packages/server/src/modules/administration/set-settings.ts';
import { type Database, openDatabase } from '../packages/server/src/platform/db/database.ts';
import { type DnsServer, startDnsServer } from '../packages/server/testing/servers/dns-server.ts';
import { letFallDue, verifyDomain, writeEmails } from '../packages/server/testing/oracles/mail-survival.ts';
import { type Sink, startSink } from '../packages/server/testing/servers/smtp-sink.ts';
import { embeddedAddress, survivor, type Survivor } from '../packages/server/testing/oracles/survival.ts';

/**
 * Runs a server that sends, backs it up while it does, sends more emails, kills it, and restores the installation to a moment in between.
 * The receiving server is the same over both lives and counts the emails.
 */
const MAIN = new URL('../packages/server/src/main/main.ts', import.meta.url).pathname;
const EMAILS = 60;
const AT_ONCE = 10;
const PASSPHRASE = 'correct horse battery staple';

let base: string;
let sink: Sink;
let dns: DnsServer;
const opened: { stop(): Promise<void> }[] = [];

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'beckon-restore-'));
  await chmod(base, 0o755);
  sink = await startSink();
  dns = await startDnsServer();
});
afterAll(async () => {
  for (const server of opened) await server.stop();
  await Promise.all([sink.close(), dns.stop()]);
  await rm(base, { recursive: true, force: true });
});

function environment(): Record<string, string> {
  return {
    SMTP_URL: `smtp://127.0.0.1:${sink.port}?connections=2`,
    PUBLIC_URL: 'https://beckon.acme.test',
    TRUST_PROXY: '127.0.0.1',
    MAIL_DOMAIN: 'in.acme.test',
    DNS_SERVERS: dns.servers.join(','),
    BACKUP_DIR: join(base, 'backups'),
    BACKUP_PASSPHRASE: PASSPHRASE,
    LOG_LEVEL: 'silent',
  };
}

type Life = { server: Survivor; db: Database };

async function begin(dataDir: string): Promise<Life> {
  const server = await survivor(dataDir, environment());
  opened.push(server);
  await server.start();
  const connection = (): ReturnType<typeof embeddedAddress> => embeddedAddress(dataDir);
  return { server, db: await openDatabase({ connection, clock: systemClock, log: silentLog }) };
}

/** Returns the recipients of all emails at the receiving server. */
function recipients(): string[] {
  return sink.emails.flatMap(({ to }) => to).toSorted();
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await pause(50);
}

async function states(db: Database): Promise<Record<string, number>> {
  const rows = await db.query<{ state: string; count: number }>(
    `SELECT state, count(*)::int AS count FROM beckon.draft GROUP BY state`,
  );
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
}

const sent = async (db: Database): Promise<number> => (await states(db)).sent ?? 0;

test('sends nothing after a point-in-time restore until it is confirmed, and then sends no email twice', async () => {
  const first = await begin(join(base, 'first'));
  const { id: projectId } = (await first.server.product(['projects', 'create', 'Acme'])) as { id: number };
  await verifyDomain(first.server, dns);
  await setSettings(first.db, projectId, {
    autopilot: '24h',
    quiet_hours: 'off',
    frequency_cap: 'off',
    throttle: 'off',
    from_name: 'Acme',
    from_address: 'hello@mail.acme.test',
    postal_address: '1 Main Street',
  });
  const waiting = await writeEmails(first.db, projectId, EMAILS);
  const fallDue = (db: Database, count: number): Promise<string[]> =>
    letFallDue(db, projectId, waiting.splice(0, count));

  // Emails are sent before the backup, during it, before the moment, and after it.
  await fallDue(first.db, AT_ONCE);
  const [backup] = await Promise.all([
    first.server.command(['backup']) as Promise<{ path: string }>,
    fallDue(first.db, AT_ONCE),
  ]);
  await fallDue(first.db, AT_ONCE);
  await until(async () => (await sent(first.db)) === 3 * AT_ONCE);
  // These drafts are due at the restored moment, and are sent when the server is killed.
  const hour = (ms: number): Date => new Date(systemClock.now() + ms);
  const late = waiting.splice(0, AT_ONCE);
  await first.db.query(
    `UPDATE beckon.draft SET deadline_at = $3, due_at = $3 WHERE project_id = $1 AND id = ANY ($2)`,
    [projectId, late, hour(3_000)],
  );
  await first.db.query(
    `UPDATE beckon.project_timer SET next_at = now() WHERE project_id = $1 AND work = 'send'`,
    [projectId],
  );
  await first.db.query(`CREATE TABLE public.before_the_moment ()`);
  const [moment] = await first.db.query<{ at: Date }>(`SELECT clock_timestamp() AS at`);
  await until(async () => (await sent(first.db)) === 4 * AT_ONCE);
  // A member approves a draft that had a day left.
  const [approved = '', untouched = ''] = waiting;
  await first.server.product(['drafts', 'approve', approved]);
  await until(async () => (await sent(first.db)) === 4 * AT_ONCE + 1);
  const [log] = await first.db.query<{ file: string }>(`SELECT pg_walfile_name(pg_switch_wal()) AS file`);
  await until(async () => {
    const [row] = await first.db.query<{ is: boolean }>(
      `SELECT coalesce(last_archived_wal >= $1, false) AS is FROM pg_stat_archiver`,
      [log?.file],
    );
    return row?.is ?? false;
  });
  const stoppedAt = new Date(systemClock.now()).toISOString();
  await first.db.close();
  await first.server.killServer();
  first.server.killPostgres();
  const leftFirst = recipients();
  expect(leftFirst).toHaveLength(4 * AT_ONCE + 1);

  const second = join(base, 'second');
  const restorer = await survivor(second, environment());
  const at = moment?.at.toISOString() ?? '';
  const restored = await restorer.command(['restore', '--from', backup.path, '--until', at]);
  expect(restored).toMatchObject({ timeline: 2 });

  const life = await begin(second);
  expect(await life.db.query(`SELECT to_regclass('public.before_the_moment') IS NOT NULL AS is`)).toEqual([
    { is: true },
  ]);
  expect(await states(life.db)).toEqual({ sent: 3 * AT_ONCE, scheduled: EMAILS - 3 * AT_ONCE });
  expect(await life.server.command(['restore', 'status'])).toMatchObject({
    sending_enabled: false,
    timeline: 2,
  });
  // The sender checks repeatedly for due drafts. By now it has found sending disabled.
  await until(async () => {
    const [row] = await life.db.query<{ seen: number }>(
      `SELECT count(*)::int AS seen FROM beckon.database_timeline WHERE timeline = 2 AND seen_at < clock_timestamp() - interval '2 s'`,
    );
    return (row?.seen ?? 0) === 1;
  });
  expect(recipients()).toEqual(leftFirst);
  expect(await sent(life.db)).toBe(3 * AT_ONCE);

  const confirm = ['confirm-restore', '--until', at, '--stopped-at', stoppedAt];
  const counts = { unknown: AT_ONCE, review: EMAILS - 4 * AT_ONCE, unaffected: 0 };
  expect(await life.server.command([...confirm, '--dry-run'])).toMatchObject({
    ...counts,
    sending_enabled: false,
  });
  expect(await states(life.db)).toEqual({ sent: 3 * AT_ONCE, scheduled: EMAILS - 3 * AT_ONCE });
  expect(await life.server.command(confirm)).toMatchObject({ ...counts, sending_enabled: true });
  expect(await states(life.db)).toEqual({ sent: 3 * AT_ONCE, unknown: AT_ONCE, held: EMAILS - 4 * AT_ONCE });
  const moves = await life.db.query<{ action: string; reason: string; count: number }>(
    `SELECT action, reason, count(*)::int AS count FROM beckon.draft_move WHERE actor = 'operator' GROUP BY 1, 2 ORDER BY 1`,
  );
  expect(moves).toEqual([
    { action: 'mark_unknown_after_restore', reason: 'possibly_sent', count: AT_ONCE },
    { action: 'hold', reason: 'restored', count: EMAILS - 4 * AT_ONCE },
  ]);

  // The rest waits for review. A member approves it, and it is sent.
  await life.server.product(['drafts', 'approve', untouched]);
  await until(() => recipients().length === leftFirst.length + 1);
  await life.db.close();
  await life.server.stop();
  const all = recipients();
  expect(new Set(all).size).toBe(all.length);
  expect([...sink.copies.values()].every((copies) => copies === 1)).toBe(true);
}, 400_000);

/** Kills the command with SIGKILL at some moment of its work. */
async function killed(
  args: string[],
  env: Record<string, string>,
  when: () => Promise<boolean>,
): Promise<void> {
  const child: ChildProcess = spawn(process.execPath, [MAIN, ...args], {
    env: { ...process.env, ...environment(), ...env },
    stdio: 'ignore',
  });
  const gone = once(child, 'exit');
  await until(async () => child.exitCode !== null || (await when()));
  child.kill('SIGKILL');
  await gone;
}

const namesIn = (folder: string): Promise<string[]> => readdir(folder).catch(() => []);

test('leaves no partial backup or data directory after a kill, and succeeds the next time', async () => {
  const third = join(base, 'third');
  const backups = join(base, 'more');
  const server = await survivor(third, { ...environment(), BACKUP_DIR: backups });
  opened.push(server);
  await server.start();
  await server.stop();
  const env = { DATA_DIR: third, BACKUP_DIR: backups };
  const isAtIt = async (): Promise<boolean> => {
    const [draft] = (await namesIn(backups)).filter((name) => name.includes('.part-'));
    return draft !== undefined && (await namesIn(join(backups, draft, 'data'))).length > 1;
  };
  await killed(['backup'], env, isAtIt);
  expect((await namesIn(backups)).filter((name) => name.startsWith('backup-'))).toEqual([]);
  expect(await server.command(['backup', 'list'])).toEqual([]);
  const { path } = (await server.command(['backup'])) as { path: string };
  expect((await namesIn(backups)).filter((name) => name !== 'wal')).toEqual([path.slice(backups.length + 1)]);
  await server.command(['backup', 'verify', '--from', path]);

  const fourth = join(base, 'fourth');
  const drafts = async (): Promise<string[]> =>
    (await namesIn(base)).filter((name) => name.startsWith('fourth.restore-'));
  const isRestoring = async (): Promise<boolean> => {
    const [draft] = await drafts();
    return draft !== undefined && (await namesIn(join(base, draft, 'postgres'))).includes('postmaster.pid');
  };
  await killed(['restore', '--from', path], { ...env, DATA_DIR: fourth }, isRestoring);
  expect(await namesIn(base)).not.toContain('fourth');
  expect(await drafts()).toHaveLength(1);
  const again = await survivor(fourth, { ...environment(), BACKUP_DIR: backups });
  expect(await again.command(['restore', '--from', path])).toMatchObject({ data_dir: fourth });
  expect(await drafts()).toEqual([]);
}, 400_000);
