import { type Kysely, sql } from 'kysely';

/** What people look at as it happens: moves in the stream, by which key a request came, and how much comes by each. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const part of [MOVES, REQUESTS, KEYS]) await sql.raw(part).execute(db);
}

/** A place in the stream is a moment and an id: of moves within a moment, those of one draft stand in their order. The making of a draft is in the stream as the draft. */
const MOVES = `
ALTER TABLE beckon.draft_move ADD COLUMN id uuid NOT NULL
  GENERATED ALWAYS AS ((lpad(to_hex(number), 8, '0') || substr(md5(draft_id::text), 9))::uuid) STORED;
CREATE INDEX draft_move_at ON beckon.draft_move (project_id, at, id) WHERE from_state IS NOT NULL;
`;

/** Null: noted before this was. */
const REQUESTS = `
ALTER TABLE beckon.ingest_log ADD COLUMN key_id uuid, ADD COLUMN bytes bigint, ADD COLUMN slowest_ms integer;
`;

/** `created_by`: null where a command made it. */
const KEYS = `
ALTER TABLE beckon.api_key ADD COLUMN created_by text COLLATE "C";

CREATE TABLE beckon.api_key_traffic (
  project_id bigint NOT NULL,
  key_id uuid NOT NULL,
  day date NOT NULL,
  requests bigint NOT NULL CHECK (requests > 0),
  PRIMARY KEY (project_id, key_id, day)
);
`;
