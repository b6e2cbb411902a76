import { type Kysely, sql } from 'kysely';

/**
 * A sandbox is a project of its own beside a live one. `sandbox_id` names it on the live one's row, `sandbox_of` the other way round;
 * `is_closed`: its keys open nothing while the setting `sandbox` of the live project is off.
 *
 * Its clock is `ahead_ms` ahead of real time. That stands with the turn, so that whoever may change what it has knows it without
 * asking, and with the alarms, whose moments are real.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(SANDBOX).execute(db);
}

const SANDBOX = `
ALTER TABLE beckon.project
  ADD COLUMN sandbox_of bigint,
  ADD COLUMN sandbox_id bigint,
  ADD COLUMN is_closed boolean NOT NULL DEFAULT false,
  ADD CHECK (sandbox_of IS NULL OR NOT livemode);
ALTER TABLE beckon.digest_turn ADD COLUMN ahead_ms bigint NOT NULL DEFAULT 0 CHECK (ahead_ms >= 0);
ALTER TABLE beckon.tenant_due ADD COLUMN ahead_ms bigint NOT NULL DEFAULT 0 CHECK (ahead_ms >= 0);

CREATE TABLE beckon.sandbox_advance (
  project_id bigint PRIMARY KEY,
  holder uuid NOT NULL,
  lease_until timestamptz NOT NULL
);
`;
