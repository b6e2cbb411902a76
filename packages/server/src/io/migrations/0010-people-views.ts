import { type Kysely, sql } from 'kysely';

/** What a project's team keeps of its own beside what was sent: filters under a name, and which events it expects. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const part of [VIEWS, EXPECTED, IMPORTS]) await sql.raw(part).execute(db);
}

/** `screen`: of which list it is a filter. */
const VIEWS = `
CREATE TABLE beckon.saved_view (
  project_id bigint NOT NULL,
  id uuid NOT NULL,
  screen text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  filter text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL,
  created_by text COLLATE "C" NOT NULL,
  PRIMARY KEY (project_id, id)
);
CREATE UNIQUE INDEX saved_view_name ON beckon.saved_view (project_id, screen, name);
`;

/** What the catalogue first saw of it after `since` is a drift. */
const EXPECTED = `
CREATE TABLE beckon.expected_event (
  project_id bigint NOT NULL,
  name text COLLATE "C" NOT NULL,
  since timestamptz NOT NULL,
  marked_by text COLLATE "C" NOT NULL,
  PRIMARY KEY (project_id, name)
);
`;

/** What a person was then hangs on when imports came, and these are few among the changes. */
const IMPORTS = `
CREATE INDEX change_bulk ON beckon.change (project_id, at) WHERE kind = 'bulk';
`;
