import type pg from 'pg';
import { withClient } from '../fill.ts';
import { dedupeKey } from '../../../packages/server/src/modules/users/events/event.ts';
import type { Testbed } from '../testbed.ts';
import { CHUNK } from './records.ts';

/**
 * The baseline of `process rate`: a minimal loop reads the rows that a run wrote and writes them again. The tables have the same shape
 * (columns, indexes, partitions, fill factors), in the schema `bare` of the same database.
 *
 * It uses one connection, one transaction per thousand records' rows, and one prepared `unnest` statement per table. It looks up, decides
 * and parses nothing, and the arrays are made before the clock starts. Rows that the run updated are updated from the same state, because
 * those tables were copied before the run; `event` and `event_dedupe` begin empty.
 *
 * Rows of `person`, `audience_member` and `audience_timer` that were written several times count as often as PostgreSQL's statistics say. Two
 * things are left out, which favors the baseline: the few rows of the daily and version counts, and deleting records from the ingest queue.
 */
const COPIED = [
  'person',
  'person_email',
  'person_event',
  'audience_member',
  'audience_timer',
  'event_volume',
] as const;
const EMPTY = ['event_dedupe', 'activity'] as const;
const TABLES = [...COPIED, ...EMPTY, 'event'] as const;
type Name = (typeof TABLES)[number];

/** Copies the tables. Call it before each run: the copy is the state that the run's upserts find. */
export function copyBefore(url: string): Promise<void> {
  return withClient(url, async (client) => {
    await client.query('DROP SCHEMA IF EXISTS bare CASCADE; CREATE SCHEMA bare');
    for (const name of [...COPIED, ...EMPTY]) {
      await client.query(`CREATE TABLE bare.${name} (LIKE beckon.${name} INCLUDING ALL)`);
      const { rows } = await client.query<{ options: string | null }>(
        `SELECT array_to_string(reloptions, ', ') AS options FROM pg_class WHERE oid = 'beckon.${name}'::regclass`,
      );
      if (rows[0]?.options) await client.query(`ALTER TABLE bare.${name} SET (${rows[0].options})`);
    }
    for (const name of COPIED) await client.query(`INSERT INTO bare.${name} SELECT * FROM beckon.${name}`);
    await client.query(
      'CREATE TABLE bare.event (LIKE beckon.event INCLUDING ALL) PARTITION BY RANGE (received_at)',
    );
    const { rows } = await client.query<{ name: string; bound: string }>(
      `SELECT c.relname AS name, pg_get_expr(c.relpartbound, c.oid) AS bound FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
       WHERE i.inhparent = 'beckon.event'::regclass`,
    );
    for (const { name, bound } of rows)
      await client.query(`CREATE TABLE bare.${name} PARTITION OF bare.event ${bound}`);
  });
}

/** Rows inserted or updated, and rows deleted, for each table, from PostgreSQL's statistics. */
export type WriteCounts = Map<string, { put: number; deleted: number }>;

const WRITE_STATISTICS = `SELECT relname AS name, n_tup_ins + n_tup_upd AS put, n_tup_del AS deleted FROM pg_stat_user_tables WHERE schemaname = 'beckon'`;
/** An idle backend flushes its statistics within ten seconds. */
const STATISTICS_DELAY_MS = 12_000;

export async function countWrites({ db }: Testbed): Promise<{ result(): Promise<WriteCounts> }> {
  const before = await readStatistics();
  return {
    async result() {
      await new Promise((resolve) => setTimeout(resolve, STATISTICS_DELAY_MS));
      const after = await readStatistics();
      return new Map(
        [...after].map(([name, { put, deleted }]) => {
          const previous = before.get(name) ?? { put: 0, deleted: 0 };
          return [name, { put: put - previous.put, deleted: deleted - previous.deleted }];
        }),
      );
    },
  };

  async function readStatistics(): Promise<WriteCounts> {
    const rows = await db.query<{ name: string; put: number; deleted: number }>(WRITE_STATISTICS);
    return new Map(rows.map(({ name, put, deleted }) => [name, { put, deleted }]));
  }
}

export type Row = Record<string, string | null>;
export type Column = { name: string; type: string; inKey: boolean };
type Step = { name: string; text: string; values: (string | null)[][] };
/** The steps of each transaction. */
export type Baseline = Step[][];

export type BaselineOptions = { projectId: number; since: Date; writeCounts: WriteCounts };

export function openBaseline(
  testbed: Testbed,
  { projectId, since, writeCounts }: BaselineOptions,
): Promise<Baseline> {
  return withClient(testbed.url, async (client) => {
    const tables = new Map<Name, Column[]>();
    for (const name of TABLES) tables.set(name, await columnsOf(client, name));
    const read = (name: Name, rest: string): Promise<Row[]> =>
      rowsOf(client, { name, columns: tables.get(name) ?? [], projectId, rest });
    const changedRows = (name: Name): Promise<Row[]> =>
      read(name, `EXCEPT SELECT * FROM bare.${name} WHERE project_id = ${projectId}`);
    const from = `AND received_at >= '${since.toISOString()}' ORDER BY received_at, seq`;
    const events = await read('event', from);
    const counts = (name: Name): { put: number; deleted: number } =>
      writeCounts.get(name) ?? { put: 0, deleted: 0 };
    const upserts: [Name, Row[]][] = [];
    for (const name of ['person', 'person_email', 'audience_member', 'audience_timer'] as const)
      upserts.push([name, repeatRows(await changedRows(name), counts(name).put)]);
    upserts.push(['activity', await read('activity', `AND at >= '${since.toISOString()}' ORDER BY at`)]);
    const removals: [Name, Row[]][] = [];
    for (const name of ['audience_member', 'audience_timer'] as const)
      removals.push([name, await removedRows(client, { name, columns: tables.get(name) ?? [], projectId })]);
    return inBatches({ events, upserts, removals, tables });
  });
}

export async function columnsOf(client: pg.Client, name: string): Promise<Column[]> {
  const { rows } = await client.query<Column>(
    `SELECT a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type,
            coalesce(a.attnum = ANY (i.indkey::smallint[]), false) AS "inKey"
     FROM pg_attribute a LEFT JOIN pg_index i ON i.indrelid = a.attrelid AND i.indisprimary
     WHERE a.attrelid = 'beckon.${name}'::regclass AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '' ORDER BY a.attnum`,
  );
  return rows;
}

type TableRows = { name: string; columns: Column[]; projectId: number };

/** Reads every value as text, so that it can be written again without conversion. */
export async function rowsOf(client: pg.Client, options: TableRows & { rest: string }): Promise<Row[]> {
  const { name, columns, projectId, rest } = options;
  const texts = columns.map((column) => `${column.name}::text`).join(', ');
  const { rows } = await client.query<Row>(
    `SELECT ${texts} FROM (SELECT * FROM beckon.${name} WHERE project_id = ${projectId} ${rest}) AS written`,
  );
  return rows;
}

async function removedRows(client: pg.Client, { name, columns, projectId }: TableRows): Promise<Row[]> {
  const key = columns
    .filter(({ inKey }) => inKey)
    .map((column) => column.name)
    .join(', ');
  const { rows } = await client.query<Row>(
    `SELECT ${key.replaceAll(/\w+/g, '$&::text')} FROM (
       SELECT ${key} FROM bare.${name} WHERE project_id = ${projectId} EXCEPT SELECT ${key} FROM beckon.${name} WHERE project_id = ${projectId}
     ) AS gone`,
  );
  return rows;
}

/** Repeats rows as often as they were written. The last state of a row is used in place of its earlier ones. */
export function repeatRows(rows: Row[], times: number): Row[] {
  if (rows.length === 0 || times <= rows.length) return rows;
  return Array.from({ length: times }, (_, i) => rows[i % rows.length] ?? {});
}

type BaselineRows = {
  events: Row[];
  upserts: [Name, Row[]][];
  removals: [Name, Row[]][];
  tables: Map<Name, Column[]>;
};

function inBatches({ events, upserts, removals, tables }: BaselineRows): Baseline {
  const largest = Math.max(events.length, ...upserts.map(([, rows]) => rows.length));
  const batches = Math.max(1, Math.ceil(largest / CHUNK));
  return Array.from({ length: batches }, (_, nth) => {
    const share = (rows: Row[]): Row[] =>
      rows.slice(Math.floor((nth * rows.length) / batches), Math.floor(((nth + 1) * rows.length) / batches));
    const steps: Step[] = [];
    const add = (name: Name, rows: Row[], kind: keyof typeof STATEMENTS): void => {
      const columns = (tables.get(name) ?? []).filter(({ inKey }) => kind !== 'remove' || inKey);
      const distinctRows = kind === 'insert' ? rows : unique(rows, columns);
      if (distinctRows.length > 0) steps.push(stepOf({ name, columns, kind, rows: distinctRows }));
    };
    const batchEvents = share(events);
    add('event', batchEvents, 'insert');
    add('event_dedupe', batchEvents.map(dedupeRow), 'ignore');
    add('person_event', countRows(batchEvents), 'upsert');
    add('event_volume', volumeRows(batchEvents), 'upsert');
    for (const [name, rows] of upserts) add(name, share(rows), name === 'activity' ? 'insert' : 'upsert');
    for (const [name, rows] of removals) add(name, share(rows), 'remove');
    return steps;
  });
}

export function unique(rows: Row[], columns: Column[]): Row[] {
  const key = columns.filter(({ inKey }) => inKey).map(({ name }) => name);
  return [...new Map(rows.map((row) => [key.map((name) => row[name]).join(' '), row])).values()];
}

type Shape = { name: string; columns: Column[]; kind: keyof typeof STATEMENTS; rows: Row[] };

const STATEMENTS = {
  insert: (shape: Shape) => insertText(shape),
  ignore: (shape: Shape) => `${insertText(shape)} ON CONFLICT DO NOTHING`,
  upsert: (shape: Shape) =>
    `${insertText(shape)} ON CONFLICT (${keyOf(shape)}) DO UPDATE SET ${setOf(shape)}`,
  remove: ({ name, columns }: Shape) =>
    `DELETE FROM bare.${name} AS t USING unnest(${arrays(columns)}) AS x(${columns.map((column) => column.name).join(', ')})
     WHERE ${columns.map((column) => `t.${column.name} = x.${column.name}`).join(' AND ')}`,
};

export function stepOf(shape: Shape): Step {
  return {
    name: `bare.${shape.name}.${shape.kind}`,
    text: STATEMENTS[shape.kind](shape),
    values: shape.columns.map((column) => shape.rows.map((row) => row[column.name] ?? null)),
  };
}

function insertText({ name, columns }: Shape): string {
  return `INSERT INTO bare.${name} AS known (${columns.map((column) => column.name).join(', ')}) SELECT * FROM unnest(${arrays(columns)})`;
}

function arrays(columns: Column[]): string {
  return columns.map(({ type }, i) => `$${i + 1}::${type}[]`).join(', ');
}

function keyOf({ columns }: Shape): string {
  return columns
    .filter(({ inKey }) => inKey)
    .map(({ name }) => name)
    .join(', ');
}

function setOf({ columns }: Shape): string {
  const set = ({ name }: Column): string =>
    name === 'count' ? 'count = known.count + excluded.count' : `${name} = excluded.${name}`;
  return columns
    .filter(({ inKey }) => !inKey)
    .map(set)
    .join(', ');
}

function dedupeRow(event: Row): Row {
  const key = dedupeKey(
    {
      external_user_id: event['external_user_id'] ?? '',
      name: event['name'] ?? '',
      properties: JSON.parse(event['properties'] ?? '{}') as Record<string, unknown>,
      occurred_at: new Date(event['occurred_at'] ?? 0).toISOString(),
    },
    'bulk',
  );
  return { project_id: event['project_id'] ?? null, dedupe_key: `\\x${key}` };
}

function countRows(events: Row[]): Row[] {
  return groupRows(events, ['project_id', 'external_user_id', 'name'], 'occurred_at');
}

function volumeRows(events: Row[]): Row[] {
  const rows = groupRows(events, ['project_id', 'name'], 'received_at');
  return rows.map((row) => ({ ...row, day: row['first_at']?.slice(0, 10) ?? null }));
}

function groupRows(events: Row[], by: string[], at: string): Row[] {
  const groups = Map.groupBy(events, (event) => by.map((name) => event[name]).join(' '));
  return [...groups.values()].map((group) => {
    const times = group.map((event) => event[at] ?? '').toSorted();
    const key = Object.fromEntries(by.map((name) => [name, group[0]?.[name] ?? null]));
    return { ...key, count: String(group.length), first_at: times[0] ?? null, last_at: times.at(-1) ?? null };
  });
}

/** Runs the loop. Returns the number of rows written or removed, and the time it took. */
export function writeBaseline(url: string, baseline: Baseline): Promise<{ seconds: number; rows: number }> {
  return withClient(url, async (client) => {
    const startedAt = performance.now();
    let rows = 0;
    for (const steps of baseline) {
      await client.query('BEGIN');
      for (const step of steps) rows += (await client.query(step)).rowCount ?? 0;
      await client.query('COMMIT');
    }
    return { seconds: (performance.now() - startedAt) / 1_000, rows };
  });
}
