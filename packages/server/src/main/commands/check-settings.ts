import type { Tx } from '../../platform/db/statements.ts';
import {
  type InstallationCheck,
  type InspectedConfig,
  type InspectedDatabase,
  fail,
  ok,
  warn,
} from './checks.ts';

type Setting = { name: string; setting: string; unit: string | null };
type Settings = ReadonlyMap<string, Setting>;
type SettingCheck = (settings: Settings) => InstallationCheck | null;

const MIB = 1024 ** 2;
const WORK_MEM_WARN_BYTES = 512 * MIB;
const WAL_WARN_BYTES = 512 * MIB;
const CHECKPOINT_WARN_S = 60;
/** Connections for tools and other sessions. */
const SPARE_CONNECTIONS = 3;

const LOOKED_AT = [
  'autovacuum',
  'track_counts',
  'max_wal_size',
  'checkpoint_timeout',
  'checkpoint_completion_target',
  'work_mem',
  'max_connections',
  'server_encoding',
  'default_transaction_read_only',
  'idle_in_transaction_session_timeout',
];

/** Checks PostgreSQL settings that cost speed or stop writes. Settings that could lose data are part of `durability`. */
export async function checkSettings(
  database: InspectedDatabase,
  config: InspectedConfig,
): Promise<InstallationCheck[]> {
  const rows = await database.direct.query<Setting>(
    `SELECT name, setting, unit FROM pg_settings WHERE name = ANY($1)`,
    [LOOKED_AT],
  );
  const settings = new Map(rows.map((row) => [row.name, row]));
  const found = SETTING_CHECKS.flatMap((find) => find(settings) ?? []);
  const all = [...found, ...(await checkConnections(database, config)), await checkReplica(database.direct)];
  const wrong = all.filter((check) => check.state !== 'ok');
  return wrong.length > 0 ? wrong : [ok('postgresql settings', 'No setting of PostgreSQL is a problem')];
}

const NAME = 'postgresql settings';
const RELOAD = 'Change it in postgresql.conf or by ALTER SYSTEM, and reload';

const isVacuumed: SettingCheck = (settings) =>
  textOf(settings, 'autovacuum') === 'on' && textOf(settings, 'track_counts') === 'on'
    ? null
    : fail(
        NAME,
        'autovacuum or track_counts is off: tables grow without limit, and every statement gets slower',
        `Set both to on. ${RELOAD}`,
      );

const hasWalSpace: SettingCheck = (settings) =>
  bytesOf(settings, 'max_wal_size') >= WAL_WARN_BYTES
    ? null
    : warn(
        NAME,
        `max_wal_size is ${settingText(settings, 'max_wal_size')}: under load, checkpoints run all the time and commits wait for the disk`,
        `Set it to 2 GB or more. ${RELOAD}`,
      );

const checkpointsSeldom: SettingCheck = (settings) =>
  Number(textOf(settings, 'checkpoint_timeout')) >= CHECKPOINT_WARN_S
    ? null
    : warn(
        NAME,
        `checkpoint_timeout is ${settingText(settings, 'checkpoint_timeout')}: checkpoints keep the disk busy`,
        `Set it to 5 min or more. ${RELOAD}`,
      );

const hasModestMemory: SettingCheck = (settings) =>
  bytesOf(settings, 'work_mem') <= WORK_MEM_WARN_BYTES
    ? null
    : warn(
        NAME,
        `work_mem is ${settingText(settings, 'work_mem')}, and each connection can use it several times: the machine can run out of memory`,
        `Set it to 64 MB or less. ${RELOAD}`,
      );

const isUtf8: SettingCheck = (settings) =>
  textOf(settings, 'server_encoding') === 'UTF8'
    ? null
    : fail(
        NAME,
        `The database is encoded in ${textOf(settings, 'server_encoding')}: records with characters outside this encoding fail`,
        'Create a database with ENCODING UTF8, and move the data there',
      );

const mayWrite: SettingCheck = (settings) =>
  textOf(settings, 'default_transaction_read_only') === 'off'
    ? null
    : fail(NAME, 'default_transaction_read_only is on: no record can be stored', `Set it to off. ${RELOAD}`);

/** A migration may pause this long between two statements. A `statement_timeout` is harmless: each long statement sets its own. */
const IDLE_MIN_MS = 30_000;

const hasTime: SettingCheck = (settings) => {
  const name = 'idle_in_transaction_session_timeout';
  const ms = Number(textOf(settings, name));
  return ms === 0 || ms >= IDLE_MIN_MS
    ? null
    : warn(
        NAME,
        `${name} is ${settingText(settings, name)}: it interrupts migrations`,
        'Set it to 0 for the user of DATABASE_URL, with ALTER ROLE … SET …',
      );
};

const SETTING_CHECKS = [
  isVacuumed,
  hasWalSpace,
  checkpointsSeldom,
  hasModestMemory,
  isUtf8,
  mayWrite,
  hasTime,
];

async function checkConnections(
  database: InspectedDatabase,
  config: InspectedConfig,
): Promise<InstallationCheck[]> {
  const allowed = await database.connectionsAllowed();
  const { connectionsNeeded: needed, pooled, embedded } = config;
  if (embedded || allowed >= needed + SPARE_CONNECTIONS) return [];
  const message = `The processes of this machine open up to ${needed} connections, and PostgreSQL allows ${allowed} for all clients`;
  const next = 'Raise max_connections and restart PostgreSQL, or use a pooler (docs/how-to/scaling.md)';
  // A pooler opens fewer connections than its clients.
  return [pooled || allowed >= needed ? warn(NAME, message, next) : fail(NAME, message, next)];
}

async function checkReplica(db: Tx): Promise<InstallationCheck> {
  const rows = await db.query<{ is_replica: boolean }>('SELECT pg_is_in_recovery() AS is_replica');
  return rows[0]?.is_replica === true
    ? fail(NAME, 'This database is a standby, which stores no records', 'Set DATABASE_URL to the primary')
    : ok(NAME, 'This database is the primary');
}

/** Behind a pooler in transaction mode, each transaction may run on another connection of the database. */
export async function checkPooler(
  database: InspectedDatabase,
  { pooled }: InspectedConfig,
): Promise<InstallationCheck[]> {
  const isShared = await sharesBackends(database);
  if (isShared === pooled) return [];
  if (!isShared)
    return [
      warn(
        'pooler',
        'DATABASE_POOLER is transaction, but no pooler was noticed: every statement is parsed each time without need',
        'Unset DATABASE_POOLER if you use no pooler in transaction mode',
      ),
    ];
  return [
    fail(
      'pooler',
      'DATABASE_URL uses a pooler in transaction mode: statements that were prepared on one connection fail on another',
      'Set DATABASE_POOLER=transaction, and ADMIN_DATABASE_URL to the database itself',
    ),
  ];
}

const ROUNDS = 6;

/** Checks whether two open sessions that alternate share backends. A pooler in transaction mode shares backends. */
async function sharesBackends({ db }: InspectedDatabase): Promise<boolean> {
  const [first, second] = [await db.session(), await db.session()];
  try {
    const [firstBackends, secondBackends] = [new Set<number>(), new Set<number>()];
    for (let round = 0; round < ROUNDS; round += 1) {
      firstBackends.add(await backendOf(first));
      secondBackends.add(await backendOf(second));
    }
    return firstBackends.size > 1 || secondBackends.size > 1 || !firstBackends.isDisjointFrom(secondBackends);
  } finally {
    first.release();
    second.release();
  }
}

async function backendOf(tx: Tx): Promise<number> {
  const rows = await tx.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]?.pid ?? 0;
}

function textOf(settings: Settings, name: string): string {
  return settings.get(name)?.setting ?? '';
}

const UNIT_BYTES: Record<string, number> = { B: 1, kB: 1_024, '8kB': 8_192, MB: MIB };

function bytesOf(settings: Settings, name: string): number {
  const { setting, unit } = settings.get(name) ?? { setting: '0', unit: null };
  return Number(setting) * (UNIT_BYTES[unit ?? 'B'] ?? 1);
}

function settingText(settings: Settings, name: string): string {
  const { setting, unit } = settings.get(name) ?? { setting: '?', unit: null };
  const bytes = unit !== null && unit in UNIT_BYTES ? bytesOf(settings, name) : null;
  return bytes === null ? `${setting} ${unit ?? ''}`.trim() : `${Math.round(bytes / MIB)} MB`;
}
