import type { SchemaState } from '../../platform/db/schema-state.ts';
import { checkArchive, checkRestored } from './check-backup.ts';
import { checkPooler, checkSettings } from './check-settings.ts';
import { checkRelayFeedback, checkSpf } from './check-relay-feedback.ts';
import {
  type InstallationCheck,
  fail,
  type InspectedConfig,
  type InspectedDatabase,
  type Inspection,
  ok,
  warn,
} from './checks.ts';
import { messageOf } from './command.ts';

const OFFSET_WARN_MS = 1_000;
/** Beyond this offset /readyz fails. */
const OFFSET_FAIL_MS = 5_000;

export async function checkDatabase(
  inspection: Inspection,
  config: InspectedConfig,
): Promise<InstallationCheck[]> {
  let database: InspectedDatabase;
  try {
    database = await inspection.openDatabase();
  } catch (error) {
    const message = `The database does not respond: ${messageOf(error)}`;
    const next = config.embedded
      ? 'Read postgres.log in DATA_DIR'
      : 'Check that PostgreSQL runs, and check the host, port, user and password in DATABASE_URL';
    return [fail('database', message, next)];
  }
  try {
    return [
      await checkVersion(database),
      await checkDurability(database),
      ...(await checkSettings(database, config)),
      ...(await checkPooler(database, config)),
      ...(await checkContent(database, config)),
      checkClock(database.offsetMs()),
    ];
  } finally {
    await database.close();
  }
}

async function checkVersion({ db }: InspectedDatabase): Promise<InstallationCheck> {
  const rows = await db.query<{ server_version: string }>('SHOW server_version');
  return ok('database', `PostgreSQL ${rows[0]?.server_version} responds`);
}

async function checkDurability(database: InspectedDatabase): Promise<InstallationCheck> {
  const faults = await database.durabilityFaults();
  return faults.length === 0
    ? ok('durability', 'Acknowledged records are on disk')
    : fail(
        'durability',
        faults.join('; '),
        'Change this in postgresql.conf and reload. Until then the server refuses to start.',
      );
}

async function checkContent(
  database: InspectedDatabase,
  config: InspectedConfig,
): Promise<InstallationCheck[]> {
  const state = await database.schemaState();
  const schema = checkSchema(state);
  // Another release may store the check value of the secret key in another place.
  if (state.kind !== 'ready') return [schema];
  const fault = await database.secretFault();
  const secret =
    fault === null
      ? ok('secret key', 'The secret key belongs to this database')
      : fail('secret key', fault, 'Set the right key. With another key, every API key is unknown.');
  return [
    schema,
    secret,
    ...(await checkRestored(database)),
    ...(await checkArchive(database, config)),
    ...(await checkRelayFeedback(database, config)),
    ...(await checkSpf(database)),
  ];
}

function checkSchema(state: SchemaState): InstallationCheck {
  switch (state.kind) {
    case 'empty':
      return ok('schema', 'The database is empty. The first start sets it up.');
    case 'ready':
      return ok('schema', 'The schema is current');
    case 'older':
      return warn(
        'schema',
        `Migrations not applied yet: ${state.pending.join(', ')}`,
        'Run beckon-server migrate, or start the server',
      );
    case 'refused':
      return fail('schema', state.problem, state.next);
  }
}

export function checkClock(offsetMs: number | null): InstallationCheck {
  const offset = Math.abs(offsetMs ?? 0);
  const message = `This machine's clock is ${offset} ms from the database's`;
  if (offset < OFFSET_WARN_MS) return ok('clock', message);
  const next = 'Synchronize both clocks with NTP';
  return offset > OFFSET_FAIL_MS ? fail('clock', message, next) : warn('clock', message, next);
}
