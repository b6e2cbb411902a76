import pg from 'pg';
import type { Duplex } from 'node:stream';
import type { EmbeddedConnection } from '../embedded.ts';
import { EmbeddedFailure } from '../failure.ts';

export type CopiedTable = { table: string; rows: number };

/** The schema that an upgrade copies. A database has one of several versions of it, each named after its last migration. */
export type UpgradeSchema = {
  name: string;
  /** Returns the last migration of a database; undefined if it has no such schema. Throws if this release cannot copy it. */
  lastMigration(query: <R extends object>(text: string) => Promise<R[]>): Promise<string | undefined>;
  /** Creates the schema in an empty database, up to this migration. */
  migrateUpTo(connection: EmbeddedConnection, last: string): Promise<void>;
};

type CopyConnections = { from: EmbeddedConnection; to: EmbeddedConnection };
type Clients = { from: pg.Client; to: pg.Client };

/** Copying and checksumming a table are single statements. */
const LONG_STATEMENTS = '-c statement_timeout=1d';

/**
 * Creates the schema with its own migrations, up to the last migration of the old one. Then it copies the rows, table by table, and
 * compares the count and the checksum of both sides.
 */
export async function copyDatabase(ends: CopyConnections, schema: UpgradeSchema): Promise<CopiedTable[]> {
  const open = (end: EmbeddedConnection): pg.Client => new pg.Client({ ...end, options: LONG_STATEMENTS });
  const clients = { from: open(ends.from), to: open(ends.to) };
  for (const client of [clients.from, clients.to]) client.on('error', () => {});
  await clients.from.connect();
  try {
    // One snapshot of all tables, in a read-only transaction.
    await clients.from.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const last = await schema.lastMigration((text) => query(clients.from, text));
    if (last === undefined) return [];
    await schema.migrateUpTo(ends.to, last);
    await clients.to.connect();
    // Rows arrive in any order, so foreign keys are not checked; they were valid in the source.
    await clients.to.query('SET session_replication_role = replica');
    await makePartitions(clients, schema.name);
    return await copyTables(clients, schema.name);
  } finally {
    await Promise.all([clients.from.end(), clients.to.end().catch(() => {})]);
  }
}

type Partition = { name: string; parent: string; bound: string };

/** Creates the partitions that no migration contains, such as those of a month. */
async function makePartitions({ from, to }: Clients, schema: string): Promise<void> {
  const text = `SELECT format('%I.%I', n.nspname, c.relname) AS name, i.inhparent::regclass::text AS parent,
      pg_get_expr(c.relpartbound, c.oid) AS bound
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = $1 AND c.relispartition AND c.relkind = 'r' ORDER BY 1`;
  const existing = new Set((await query<Partition>(to, text, [schema])).map(({ name }) => name));
  for (const { name, parent, bound } of await query<Partition>(from, text, [schema]))
    if (!existing.has(name)) await to.query(`CREATE TABLE ${name} PARTITION OF ${parent} ${bound}`);
}

type Table = { name: string; columns: string };

const TABLES = `SELECT format('%I.%I', n.nspname, c.relname) AS name, string_agg(format('%I', a.attname), ', ' ORDER BY a.attname) AS columns
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
  WHERE n.nspname = $1 AND c.relkind = 'r' GROUP BY 1 ORDER BY 1`;

async function copyTables(clients: Clients, schema: string): Promise<CopiedTable[]> {
  const { from, to } = clients;
  const tables = await query<Table>(from, TABLES, [schema]);
  const created = await query<Table>(to, TABLES, [schema]);
  const theirs = new Map(created.map(({ name, columns }) => [name, columns]));
  const copied: CopiedTable[] = [];
  for (const { name, columns } of tables) {
    if (theirs.get(name) !== columns) throw differs(name, 'its columns differ');
    // Rows that migrations insert are copied as well.
    await to.query(`DELETE FROM ${name}`);
    await copyTable(clients, { table: name, columns });
    const [before, after] = [await sumUp(from, name, columns), await sumUp(to, name, columns)];
    if (before.rows !== after.rows || before.sum !== after.sum) throw differs(name, 'its rows differ');
    copied.push({ table: name, rows: Number(after.rows) });
  }
  await copySequences(clients, schema);
  for (const { table } of copied) await to.query(`ANALYZE ${table}`);
  return copied;
}

/** Returns a checksum that does not depend on the order of the rows. */
async function sumUp(
  client: pg.Client,
  table: string,
  columns: string,
): Promise<{ rows: string; sum: string }> {
  const [row] = await query<{ rows: string; sum: string }>(
    client,
    `SELECT count(*)::text AS rows, coalesce(sum(hashtextextended(r::text, 0)::numeric), 0)::text AS sum
     FROM (SELECT ${columns} FROM ${table}) r`,
  );
  if (!row) throw new Error(`the query returned no row for ${table}`);
  return row;
}

async function copySequences({ from, to }: Clients, schema: string): Promise<void> {
  const names = await query<{ name: string }>(
    from,
    `SELECT format('%I.%I', schemaname, sequencename) AS name FROM pg_sequences WHERE schemaname = $1`,
    [schema],
  );
  for (const { name } of names) {
    const [at] = await query<{ last: string; called: boolean }>(
      from,
      `SELECT last_value::text AS last, is_called AS called FROM ${name}`,
    );
    if (at) await to.query(`SELECT setval($1::regclass, $2::bigint, $3)`, [name, at.last, at.called]);
  }
}

function differs(table: string, why: string): EmbeddedFailure {
  return new EmbeddedFailure(
    'cannot_upgrade',
    `${table} was not copied correctly: ${why}. The old database is unchanged`,
  );
}

async function query<R extends object>(
  client: pg.Client,
  text: string,
  values: unknown[] = [],
): Promise<R[]> {
  return (await client.query<R>(text, values)).rows;
}

/** Members of the driver for COPY, which its types do not include. */
type Wire = {
  stream: Duplex;
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
  sendCopyFail(message: string): void;
};

const AHEAD_MAX_BYTES = 4 * 1024 * 1024;

/**
 * Copies all rows of a table from one database to another with COPY. Each row is passed on as it arrives: if the target is slower, the
 * source is paused, which bounds the memory.
 */
export async function copyTable(
  { from, to }: { from: pg.Client; to: pg.Client },
  { table, columns }: { table: string; columns: string },
): Promise<void> {
  const into = new CopyIn(`COPY ${table} (${columns}) FROM STDIN`);
  to.query(into);
  const target = await into.ready;
  const out = new CopyOut(`COPY (SELECT ${columns} FROM ${table}) TO STDOUT`, target);
  from.query(out);
  try {
    // If the target dies, the source waits for it without an error.
    await Promise.race([out.ended, into.ended]);
    target.endCopyFrom();
  } catch (error) {
    target.sendCopyFail('the other side has failed');
    await into.ended.catch(() => {});
    throw error;
  }
  await into.ended;
}

/** The common part of both directions: the driver calls these methods as answers arrive. */
class Copy {
  readonly ended: Promise<void>;
  protected readonly text: string;
  protected succeed: () => void = () => {};
  protected fail: (error: Error) => void = () => {};

  constructor(text: string) {
    this.text = text;
    this.ended = new Promise((resolve, reject) => {
      this.succeed = resolve;
      this.fail = reject;
    });
    // Avoids an unhandled rejection; every caller that awaits it gets the error too.
    this.ended.catch(() => {});
  }

  submit(connection: pg.Connection): void {
    connection.query(this.text);
  }

  handleError(error: Error): void {
    this.fail(error);
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.succeed();
  }
}

class CopyIn extends Copy {
  readonly ready: Promise<Wire>;
  private begin: (wire: Wire) => void = () => {};

  constructor(text: string) {
    super(text);
    this.ready = new Promise((resolve, reject) => {
      this.begin = resolve;
      this.ended.catch(reject);
    });
  }

  handleCopyInResponse(wire: Wire): void {
    this.begin(wire);
  }
}

class CopyOut extends Copy {
  private readonly target: Wire;

  constructor(text: string, target: Wire) {
    super(text);
    this.target = target;
  }

  handleCopyData({ chunk }: { chunk: Buffer }, wire: Wire): void {
    const { stream } = this.target;
    this.target.sendCopyFromChunk(chunk);
    if (stream.writableLength < AHEAD_MAX_BYTES || wire.stream.isPaused()) return;
    wire.stream.pause();
    stream.once('drain', () => wire.stream.resume());
  }
}
