import type pg from 'pg';
import { withClient } from '../fill.ts';
import type { World } from './world.ts';

/**
 * The baseline of `rules due`: a minimal loop claims the due drafts and writes the rows that a run wrote about them again. The tables have
 * the same shape (columns, indexes, fill factors), in the schema `bare` of the same database.
 *
 * It uses one connection and 500 drafts per transaction. A transaction is an `UPDATE … FROM (SELECT … FOR UPDATE SKIP LOCKED)` by due time,
 * then a prepared `unnest` statement each for the emails, the moves and the decision log. It looks up and evaluates nothing and runs no
 * send checks, and the arrays are made before the clock starts. The results of the emails are written in a second transaction, as the
 * sender does. That transaction is timed separately.
 */
const TABLES = ['draft', 'email', 'draft_move', 'decision'] as const;
type Name = (typeof TABLES)[number];
const BATCH = 500;

/** Copies the tables. Call it before the run, while the drafts wait. */
export function copyBefore({ url, projectId }: World): Promise<void> {
  return withClient(url, async (client) => {
    await client.query('DROP SCHEMA IF EXISTS bare CASCADE; CREATE SCHEMA bare');
    for (const name of TABLES) {
      await client.query(`CREATE TABLE bare.${name} (LIKE beckon.${name} INCLUDING ALL)`);
      const { rows } = await client.query<{ options: string | null }>(
        `SELECT array_to_string(reloptions, ', ') AS options FROM pg_class WHERE oid = 'beckon.${name}'::regclass`,
      );
      if (rows[0]?.options) await client.query(`ALTER TABLE bare.${name} SET (${rows[0].options})`);
      const columns = (await columnsOf(client, name)).map((column) => column.name).join(', ');
      await client.query(
        `INSERT INTO bare.${name} (${columns}) SELECT ${columns} FROM beckon.${name} WHERE project_id = $1`,
        [projectId],
      );
    }
  });
}

type Row = Record<string, string | null>;
type Insert = { name: string; text: string; values: (string | null)[][] };
/** The rows that a batch of 500 adds, with the claim and with the result. */
type Batch = { claims: Insert[]; results: Insert[] };
export type Baseline = { projectId: number; drafts: number; batches: Batch[] };

/** Reads the rows that the run wrote, in the form in which a claim writes them. Call it after the run. */
export function openBaseline({ url, projectId }: World, since: number): Promise<Baseline> {
  return withClient(url, async (client) => {
    const read = async (name: Name, rest: string): Promise<Table> => {
      const columns = await columnsOf(client, name);
      const texts = columns.map((column) => `t.${column.name}::text`).join(', ');
      const text = `SELECT ${texts} FROM beckon.${name} t ${rest} ORDER BY m.claimed_at, m.draft_id`;
      const { rows } = await client.query<Row>(text, [projectId, new Date(since)]);
      return { name, columns, rows };
    };
    const wave = 'm.project_id = $1 AND m.claimed_at >= $2';
    const ofDraft = `JOIN beckon.email m ON m.project_id = t.project_id AND m.draft_id = t.draft_id WHERE ${wave}`;
    const emails = await read('email', ofDraft);
    emails.rows = emails.rows.map((row) => ({
      ...row,
      state: 'claimed',
      ended_at: null,
      next_at: row['claimed_at'] ?? null,
    }));
    const claims = [
      emails,
      await read('draft_move', `${ofDraft} AND t.action = 'claim'`),
      await read(
        'decision',
        `JOIN beckon.email m ON m.project_id = t.project_id AND m.external_user_id = t.external_user_id AND m.rule_id = t.rule_id
         WHERE ${wave} AND t.reason = 'claimed'`,
      ),
    ];
    const results = [await read('draft_move', `${ofDraft} AND t.action = 'sent'`)];
    const drafts = emails.rows.length;
    const batches = Array.from({ length: Math.ceil(drafts / BATCH) }, (_, nth) => ({
      claims: claims.map((table) => insertOf(table, nth)),
      results: results.map((table) => insertOf(table, nth)),
    }));
    return { projectId, drafts, batches };
  });
}

type Column = { name: string; type: string };
type Table = { name: Name; columns: Column[]; rows: Row[] };

/** Generated columns are left out, because they cannot be written. */
async function columnsOf(client: pg.Client, name: Name): Promise<Column[]> {
  const { rows } = await client.query<Column>(
    `SELECT attname AS name, format_type(atttypid, atttypmod) AS type FROM pg_attribute
     WHERE attrelid = 'beckon.${name}'::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum`,
  );
  return rows;
}

function insertOf({ name, columns, rows }: Table, nth: number): Insert {
  const batchRows = rows.slice(nth * BATCH, (nth + 1) * BATCH);
  const arrays = columns.map(({ type }, i) => `$${i + 1}::${type}[]`).join(', ');
  const names = columns.map((column) => column.name).join(', ');
  return {
    name: `bare.${name}`,
    text: `INSERT INTO bare.${name} (${names}) SELECT * FROM unnest(${arrays})`,
    values: columns.map((column) => batchRows.map((row) => row[column.name] ?? null)),
  };
}

/** Drafts per second for the claims alone, and with their results. */
export type BaselineRates = { claims: number; withResults: number };

export function writeBaseline(url: string, { projectId, drafts, batches }: Baseline): Promise<BaselineRates> {
  return withClient(url, async (client) => {
    const due = new Date();
    let [claimsMs, resultsMs, claimed] = [0, 0, 0];
    for (const { claims, results } of batches) {
      const startedAt = performance.now();
      await client.query('BEGIN');
      const { rows } = await client.query<{ id: string }>({ ...CLAIM, values: [projectId, due, BATCH] });
      for (const insert of claims) await client.query(insert);
      await client.query('COMMIT');
      const claimedAt = performance.now();
      const ids = rows.map(({ id }) => id);
      await client.query('BEGIN');
      await client.query({ ...SENT, values: [projectId, ids] });
      await client.query({ ...ENDED, values: [projectId, ids] });
      for (const insert of results) await client.query(insert);
      await client.query('COMMIT');
      claimsMs += claimedAt - startedAt;
      resultsMs += performance.now() - claimedAt;
      claimed += ids.length;
    }
    if (claimed !== drafts) throw new Error(`the bare loop claimed ${claimed} of ${drafts} drafts`);
    return {
      claims: (drafts / claimsMs) * 1_000,
      withResults: (drafts / (claimsMs + resultsMs)) * 1_000,
    };
  });
}

const CLAIM = {
  name: 'bare.claim',
  text: `UPDATE bare.draft d SET state = 'sending', due_at = NULL, moves = d.moves + 1, updated_at = $2
         FROM (SELECT id FROM bare.draft WHERE project_id = $1 AND due_at <= $2 ORDER BY due_at, id LIMIT $3 FOR UPDATE SKIP LOCKED) c
         WHERE d.project_id = $1 AND d.id = c.id RETURNING d.id`,
};
const SENT = {
  name: 'bare.sent',
  text: `UPDATE bare.draft SET state = 'sent', ended_at = now(), moves = moves + 1, updated_at = now()
         WHERE project_id = $1 AND id = ANY ($2::uuid[])`,
};
const ENDED = {
  name: 'bare.ended',
  text: `UPDATE bare.email SET state = 'sent', ended_at = now(), next_at = NULL WHERE project_id = $1 AND draft_id = ANY ($2::uuid[])`,
};
