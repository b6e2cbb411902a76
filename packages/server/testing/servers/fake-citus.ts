import pg from 'pg';

/**
 * A fake Citus: functions and tables under its names, in a schema of the test. They record calls and make the documented refusals of Citus:
 * a table before the one that it refers to, a table twice, or a trigger. They also refuse a unique index without the distribution column,
 * and a missing group. No rows are distributed.
 */
export async function installFakeCitus(
  url: string,
  { version = '13.2-1', workers = 2 } = {},
): Promise<string> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await client.query(SCHEMA);
    await client.query(`INSERT INTO fake_citus.pg_extension VALUES ('citus', $1)`, [version]);
    await client.query(
      `INSERT INTO fake_citus.pg_dist_node SELECT n, 'primary', true, n > 0 FROM generate_series(0, $1::int) n`,
      [workers],
    );
  } finally {
    await client.end();
  }
  const spread = new URL(url);
  // Its catalog precedes PostgreSQL's own in the search path.
  spread.searchParams.set('options', '-c search_path=fake_citus,pg_catalog');
  return spread.href;
}

const SCHEMA = `
CREATE SCHEMA fake_citus;
SET search_path = fake_citus, pg_catalog;
CREATE TABLE pg_extension (extname text, extversion text);
CREATE TABLE pg_dist_node (groupid int, noderole text, isactive boolean, shouldhaveshards boolean);
CREATE TABLE pg_dist_partition (logicalrelid regclass PRIMARY KEY, partkey text, colocated text);
CREATE TABLE asked (n serial, what text, "table" text, mode text, shards text);

CREATE FUNCTION spread(relation regclass, key text, colocated text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE hidden text; parent regclass;
BEGIN
  IF EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = relation) THEN
    RAISE 'table "%" is already distributed', relation;
  END IF;
  IF EXISTS (SELECT FROM pg_trigger WHERE tgrelid = relation AND NOT tgisinternal) THEN
    RAISE 'triggers are not supported on distributed tables';
  END IF;
  SELECT c.relname INTO hidden FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
  WHERE key IS NOT NULL AND i.indrelid = relation AND i.indisunique
    AND NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = relation AND a.attnum = ANY (i.indkey) AND a.attname = key);
  IF hidden IS NOT NULL THEN RAISE 'cannot create constraint "%" on "%": it lacks the column %', hidden, relation, key; END IF;
  FOR parent IN SELECT confrelid FROM pg_constraint WHERE conrelid = relation AND contype = 'f' AND confrelid <> relation LOOP
    IF NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = parent) THEN
      RAISE 'referenced table "%" must be a distributed table or a reference table', parent;
    END IF;
  END LOOP;
  INSERT INTO pg_dist_partition VALUES (relation, key, colocated);
  INSERT INTO asked (what, "table", mode, shards) VALUES (coalesce(key, 'reference'), relation::text,
    current_setting('citus.multi_shard_modify_mode', true), current_setting('citus.shard_count', true));
END $$;

CREATE FUNCTION create_distributed_table(relation regclass, distribution_column text, colocate_with text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF colocate_with <> 'none' AND NOT EXISTS (
    SELECT FROM pg_dist_partition WHERE logicalrelid = colocate_with::regclass AND partkey = distribution_column
  ) THEN RAISE 'cannot colocate tables % and %', colocate_with, relation; END IF;
  PERFORM spread(relation, distribution_column, colocate_with);
END $$;

CREATE FUNCTION create_reference_table(relation regclass) RETURNS void
LANGUAGE sql AS $$ SELECT spread(relation, NULL, 'reference') $$;

CREATE FUNCTION truncate_local_data_after_distributing_table(relation regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = relation) THEN
    RAISE 'supplied parameter is not a distributed relation';
  END IF;
  INSERT INTO asked (what, "table") VALUES ('truncate', relation::text);
END $$;
`;
