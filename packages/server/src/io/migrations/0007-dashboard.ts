import { type Kysely, sql } from 'kysely';

/** What people do in the dashboard, and whose projects are. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const part of [PROJECTS, AUDIT]) await sql.raw(part).execute(db);
}

/**
 * `organisation_id` null: made before there was a team; it joins the first organisation that is set up. `is_demo`: made up, so
 * nothing of it ever leaves this machine, and all of it may be removed.
 */
const PROJECTS = `
ALTER TABLE beckon.project
  ADD COLUMN organisation_id text COLLATE "C",
  ADD COLUMN is_demo boolean NOT NULL DEFAULT false;
`;

/** Who did what: opened before the change, closed behind it. `project_id` 0: it concerns the team, and no project. */
const AUDIT = `
CREATE TABLE beckon.audit (
  project_id bigint NOT NULL,
  id uuid NOT NULL,
  at timestamptz NOT NULL,
  actor text COLLATE "C" NOT NULL,
  actor_name text COLLATE "C" NOT NULL,
  action text COLLATE "C" NOT NULL,
  subject text COLLATE "C",
  before jsonb,
  after jsonb,
  is_done boolean NOT NULL DEFAULT false,
  PRIMARY KEY (project_id, id)
);
`;
