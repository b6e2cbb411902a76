/** Rows of `rule`, `rule_version`, `enrollment_record` and `rule_timer`. */

import { momentList, plainList } from '../../../platform/db/list.ts';
import type { Tx } from '../../../platform/db/statements.ts';

export type RuleRow = {
  project_id: number;
  id: string;
  name: string;
  version: number;
  mode: 'draft' | 'autopilot';
  deadline_ms: number | null;
  enabled_at: Date | null;
  created_at: Date;
  updated_at: Date;
  demoted_at: Date | null;
  demoted_reason: string | null;
};

export type NewRuleRow = Omit<RuleRow, 'demoted_at' | 'demoted_reason'>;

/** Null: the author was not recorded. */
export type VersionAuthorship = { created_at: Date; created_by: string | null };

export type RuleVersionRow = { project_id: number; rule_id: string; version: number; definition: unknown };

const COLUMNS = 'project_id, id, name, version, mode, deadline_ms, enabled_at, created_at, updated_at';

export async function insertRules(tx: Tx, rows: NewRuleRow[]): Promise<string[]> {
  const inserted = await tx.query<{ id: string }>(
    `INSERT INTO beckon.rule (${COLUMNS})
     SELECT * FROM unnest($1::bigint[], $2::uuid[], $3::text[], $4::int[], $5::text[], $6::bigint[], $7::timestamptz[],
       $8::timestamptz[], $9::timestamptz[])
     ON CONFLICT (project_id, name) DO NOTHING RETURNING id`,
    [
      rows.map((row) => row.project_id),
      rows.map((row) => row.id),
      rows.map((row) => row.name),
      rows.map((row) => row.version),
      rows.map((row) => row.mode),
      rows.map((row) => row.deadline_ms),
      rows.map((row) => row.enabled_at),
      rows.map((row) => row.created_at),
      rows.map((row) => row.updated_at),
    ],
  );
  return inserted.map(({ id }) => id);
}

export async function insertVersions(
  tx: Tx,
  rows: (Omit<RuleVersionRow, 'definition'> & { definition: object } & VersionAuthorship)[],
): Promise<void> {
  await tx.query(
    `INSERT INTO beckon.rule_version (project_id, rule_id, version, definition, created_at, created_by)
     SELECT * FROM unnest($1::bigint[], $2::uuid[], $3::int[], $4::jsonb[], $5::timestamptz[], $6::text[])`,
    [
      rows.map((row) => row.project_id),
      rows.map((row) => row.rule_id),
      rows.map((row) => row.version),
      rows.map((row) => JSON.stringify(row.definition)),
      rows.map((row) => row.created_at),
      rows.map((row) => row.created_by),
    ],
  );
}

/** Requires the project lock. Returns false if another rule has the name. */
export async function updateRule(tx: Tx, row: Omit<NewRuleRow, 'created_at'>): Promise<boolean> {
  const rows = await tx.query(
    `UPDATE beckon.rule SET name = $3, version = $4, mode = $5, deadline_ms = $6, enabled_at = $7, updated_at = $8
     WHERE project_id = $1 AND id = $2
       AND NOT EXISTS (SELECT 1 FROM beckon.rule o WHERE o.project_id = $1 AND o.name = $3 AND o.id <> $2)
     RETURNING 1`,
    [
      row.project_id,
      row.id,
      row.name,
      row.version,
      row.mode,
      row.deadline_ms,
      row.enabled_at,
      row.updated_at,
    ],
  );
  return rows.length > 0;
}

/** Sets a rule back to `draft` mode, so that none of its emails is sent automatically. Requires the project lock. */
export async function demoteRule(
  tx: Tx,
  { projectId, ruleId, why, now }: { projectId: number; ruleId: string; why: string; now: number },
): Promise<void> {
  await tx.query(
    `UPDATE beckon.rule SET mode = 'draft', demoted_at = $3, demoted_reason = $4, updated_at = $3 WHERE project_id = $1 AND id = $2`,
    [projectId, ruleId, new Date(now), why],
  );
}

export function listRuleRows(tx: Tx, projectIds: number[]): Promise<RuleRow[]> {
  return tx.query(
    `SELECT ${COLUMNS}, demoted_at, demoted_reason FROM beckon.rule WHERE project_id = ANY ($1::bigint[]) ORDER BY project_id, name`,
    [projectIds],
  );
}

export type VersionKey = { projectId: number; ruleId: string; version: number };

export function listVersionRows(tx: Tx, keys: VersionKey[]): Promise<RuleVersionRow[]> {
  return tx.query(
    `SELECT v.project_id, v.rule_id, v.version, v.definition
     FROM unnest($1::bigint[], $2::uuid[], $3::int[]) AS k(project_id, rule_id, version)
     JOIN beckon.rule_version v ON v.project_id = k.project_id AND v.rule_id = k.rule_id AND v.version = k.version`,
    [keys.map((key) => key.projectId), keys.map((key) => key.ruleId), keys.map((key) => key.version)],
  );
}

export type EntryKey = { projectId: number; userId: string; ruleId: string; key: string };
export type EntryRecord = EntryKey & { enrolledAt: number; level: number };

export async function findEntryRows(tx: Tx, keys: Omit<EntryKey, 'key'>[]): Promise<EntryRecord[]> {
  const rows = await tx.prepared<{
    project_id: number;
    external_user_id: string;
    rule_id: string;
    key: string;
    entered_ms: number;
    level: number;
  }>({
    name: 'rules.entries',
    text: `SELECT e.project_id, e.external_user_id, e.rule_id, e.key,
             (extract(epoch FROM e.enrolled_at) * 1000)::float8 AS entered_ms, e.level
           FROM unnest($1::bigint[], $2::text[], $3::uuid[]) AS k(project_id, user_id, rule_id)
           JOIN beckon.enrollment_record e ON e.project_id = k.project_id AND e.external_user_id = k.user_id AND e.rule_id = k.rule_id`,
    values: [
      plainList(keys.map((key) => key.projectId)),
      keys.map((key) => key.userId),
      keys.map((key) => key.ruleId),
    ],
  });
  return rows.map((row) => ({
    projectId: row.project_id,
    userId: row.external_user_id,
    ruleId: row.rule_id,
    key: row.key,
    enrolledAt: Math.round(row.entered_ms),
    level: row.level,
  }));
}

/** Inserts entries that never expire. Returns how many did not exist yet. */
export async function insertEntries(tx: Tx, rows: EntryRecord[]): Promise<number> {
  const inserted = await tx.prepared({
    name: 'rules.enter',
    text: `INSERT INTO beckon.enrollment_record (project_id, external_user_id, rule_id, key, enrolled_at, level)
           SELECT * FROM unnest($1::bigint[], $2::text[], $3::uuid[], $4::text[], $5::timestamptz[], $6::smallint[])
           ON CONFLICT DO NOTHING RETURNING 1`,
    values: entryValues(rows),
  });
  return inserted.length;
}

/** Inserts or renews entries that expire after a cooldown or at a higher level. Returns how many were written. */
export async function renewEntries(tx: Tx, rows: EntryRecord[], cooldownMs: number): Promise<number> {
  // Where tables are distributed, an upsert may not subtract an interval from a time, but it may compare the difference of two.
  const isOver = tx.isDistributed
    ? `excluded.enrolled_at - known.enrolled_at >= $7::float8 * interval '1 millisecond'`
    : `known.enrolled_at <= excluded.enrolled_at - $7::float8 * interval '1 millisecond'`;
  const renewed = await tx.prepared({
    name: 'rules.enter_again',
    text: `INSERT INTO beckon.enrollment_record AS known (project_id, external_user_id, rule_id, key, enrolled_at, level)
           SELECT * FROM unnest($1::bigint[], $2::text[], $3::uuid[], $4::text[], $5::timestamptz[], $6::smallint[])
           ON CONFLICT (project_id, external_user_id, rule_id, key) DO UPDATE SET enrolled_at = excluded.enrolled_at, level = excluded.level
           WHERE ${isOver} OR known.level < excluded.level
           RETURNING 1`,
    values: [...entryValues(rows), cooldownMs],
  });
  return renewed.length;
}

function entryValues(rows: EntryRecord[]): unknown[] {
  return [
    plainList(rows.map((row) => row.projectId)),
    rows.map((row) => row.userId),
    rows.map((row) => row.ruleId),
    rows.map((row) => row.key),
    momentList(rows.map((row) => row.enrolledAt)),
    plainList(rows.map((row) => row.level)),
  ];
}

export type TimerKey = { projectId: number; userId: string; ruleId: string; key: string };
export type TimerRow = TimerKey & { at: number; version: number; trigger: number; anchor: object };

/** The later of two anchors with one key counts, or with `keepFirst` the earlier. */
export async function upsertTimers(tx: Tx, rows: TimerRow[], keepFirst: boolean): Promise<void> {
  await tx.prepared({
    name: keepFirst ? 'rules.arm_first' : 'rules.variant',
    text: `INSERT INTO beckon.rule_timer AS known (project_id, external_user_id, rule_id, key, at, version, trigger, anchor)
           SELECT * FROM unnest($1::bigint[], $2::text[], $3::uuid[], $4::text[], $5::timestamptz[], $6::int[], $7::smallint[], $8::jsonb[])
           ON CONFLICT (project_id, external_user_id, rule_id, key)
           DO UPDATE SET at = excluded.at, version = excluded.version, trigger = excluded.trigger, anchor = excluded.anchor
           WHERE (excluded.anchor ->> 'occurredAt')::float8 ${keepFirst ? '<' : '>='} (known.anchor ->> 'occurredAt')::float8`,
    values: [
      plainList(rows.map((row) => row.projectId)),
      rows.map((row) => row.userId),
      rows.map((row) => row.ruleId),
      rows.map((row) => row.key),
      momentList(rows.map((row) => row.at)),
      plainList(rows.map((row) => row.version)),
      plainList(rows.map((row) => row.trigger)),
      rows.map((row) => JSON.stringify(row.anchor)),
    ],
  });
}

export async function deleteTimers(tx: Tx, keys: TimerKey[]): Promise<void> {
  await tx.prepared({
    name: 'rules.disarm',
    text: `DELETE FROM beckon.rule_timer t USING unnest($1::bigint[], $2::text[], $3::uuid[], $4::text[]) AS k(project_id, user_id, rule_id, key)
           WHERE t.project_id = k.project_id AND t.external_user_id = k.user_id AND t.rule_id = k.rule_id AND t.key = k.key`,
    values: [
      plainList(keys.map((key) => key.projectId)),
      keys.map((key) => key.userId),
      keys.map((key) => key.ruleId),
      keys.map((key) => key.key),
    ],
  });
}

export async function listTimersDue(
  tx: Tx,
  { projectId, now, limit }: { projectId: number; now: Date; limit: number },
): Promise<TimerRow[]> {
  const rows = await tx.query<StoredTimer>(
    `SELECT ${TIMER} FROM beckon.rule_timer
     WHERE project_id = $1 AND at <= $2 ORDER BY at, external_user_id LIMIT $3`,
    [projectId, now, limit],
  );
  return rows.map(toTimerRow);
}

export async function listTimersOfPerson(
  tx: Tx,
  { projectId, userId }: { projectId: number; userId: string },
): Promise<TimerRow[]> {
  const rows = await tx.query<StoredTimer>(
    `SELECT ${TIMER} FROM beckon.rule_timer WHERE project_id = $1 AND external_user_id = $2 ORDER BY rule_id, key`,
    [projectId, userId],
  );
  return rows.map(toTimerRow);
}

const TIMER = 'project_id, external_user_id, rule_id, key, at, version, trigger, anchor';
type StoredTimer = {
  project_id: number;
  external_user_id: string;
  rule_id: string;
  key: string;
  at: Date;
  version: number;
  trigger: number;
  anchor: object;
};

function toTimerRow({
  project_id: projectId,
  external_user_id: userId,
  rule_id,
  at,
  ...row
}: StoredTimer): TimerRow {
  return { ...row, projectId, userId, ruleId: rule_id, at: at.getTime() };
}

export async function nextTimerAt(tx: Tx, projectId: number): Promise<Date | null> {
  const rows = await tx.query<{ at: Date }>(
    `SELECT at FROM beckon.rule_timer WHERE project_id = $1 ORDER BY at LIMIT 1`,
    [projectId],
  );
  return rows[0]?.at ?? null;
}

/** Returns the number of deleted rows by table. */
export async function deleteOfPerson(
  tx: Tx,
  { projectId, userId }: { projectId: number; userId: string },
): Promise<{ entries: number; timers: number }> {
  const values = [projectId, userId];
  const entries = await tx.query(
    `DELETE FROM beckon.enrollment_record WHERE project_id = $1 AND external_user_id = $2 RETURNING 1`,
    values,
  );
  const timers = await tx.query(
    `DELETE FROM beckon.rule_timer WHERE project_id = $1 AND external_user_id = $2 RETURNING 1`,
    values,
  );
  return { entries: entries.length, timers: timers.length };
}
