import type { Tx } from '../../../platform/db/statements.ts';
import {
  type Suppression,
  ENTRY_COLUMNS,
  setSql,
  mergedSql,
  entriesSql,
  strongestOfSides,
} from './entries.ts';
import type { SuppressionTarget, SuppressedKind, SuppressionReason } from '../../sending/index.ts';
import { plainList, momentList } from '../../../platform/db/list.ts';
import { isoOrNull, iso } from '../../../platform/time/clock.ts';
import { normaliseAddress } from '../../../platform/net/address.ts';

/**
 * Adds suppressions. An address or a user has one row. A later entry never ends a suppression earlier: it comes to the front only if it
 * lasts longer, or as long with a higher rank. The entries of the three sides are kept separately (`entries.ts`). Returns the places at which
 * a new entry is in front.
 */
export async function addSuppressions(tx: Tx, suppressions: Suppression[]): Promise<SuppressionTarget[]> {
  if (suppressions.length === 0) return [];
  const groups = groupEntries(
    suppressions.map((suppression) => ({
      ...suppression,
      value: normalised(suppression.kind, suppression.value),
    })),
  );
  const rows = groups.map(({ front }) => front);
  const written = await tx.prepared<WrittenRow>({
    name: 'suppressions.add',
    text: `INSERT INTO beckon.suppression AS existing (project_id, kind, value, ${ENTRY_COLUMNS}, weaker_entries, from_erased)
           SELECT project_id, kind, value, ${ENTRY_COLUMNS}, weaker_entries::jsonb, kind NOT IN ('email', 'user')
           FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::timestamptz[], $7::text[], $8::text[])
             AS input(project_id, kind, value, ${ENTRY_COLUMNS}, weaker_entries)
           ON CONFLICT (project_id, kind, value) DO UPDATE SET ${setSql(mergedSql('existing', 'excluded'))}
           WHERE ${mergedSql('existing', 'excluded')} <> ${entriesSql('existing')}
           RETURNING project_id, kind, value, reason, until, created_at`,
    values: [
      plainList(rows.map((row) => row.projectId)),
      rows.map((row) => row.kind),
      rows.map((row) => row.value),
      rows.map((row) => row.reason),
      momentList(rows.map((row) => row.until)),
      momentList(rows.map((row) => row.createdAt)),
      rows.map((row) => row.createdBy),
      groups.map(({ weakerEntries }) =>
        weakerEntries.length === 0 ? null : JSON.stringify(weakerEntries.map(toWord)),
      ),
    ],
  });
  const inFront = new Set(written.map(frontKey));
  return rows
    .filter((row) => inFront.has(frontKey(toWritten(row))))
    .map(({ projectId, kind, value }) => ({ projectId, kind, value }));
}

/** Returns whether this suppression is in front. */
export async function addSuppression(tx: Tx, suppression: Suppression): Promise<boolean> {
  return (await addSuppressions(tx, [suppression])).length > 0;
}

type RankedEntries = { front: Suppression; weakerEntries: Suppression[] };

/** Merges rows so that each place occurs once, as the statement requires, and sorts them by the order in which all writers lock them. */
function groupEntries(rows: Suppression[]): RankedEntries[] {
  const groups = Map.groupBy(rows, ({ projectId, kind, value }) => `${projectId} ${kind} ${value}`);
  const sorted = [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return sorted.flatMap(([, entries]) => {
    const [front, ...weakerEntries] = strongestOfSides(entries);
    return front ? [{ front, weakerEntries }] : [];
  });
}

function toWord({ reason, until, createdAt, createdBy }: Suppression): object {
  const end = isoOrNull(until);
  return { reason, until: end, created_at: iso(createdAt), created_by: createdBy };
}

/** The entry in front of a written place: the given one, or one that existed. */
type WrittenRow = {
  project_id: number;
  kind: SuppressedKind;
  value: string;
  reason: string;
  until: Date | null;
  created_at: Date;
};

function toWritten({ projectId, kind, value, reason, until, createdAt }: Suppression): WrittenRow {
  const [end, created_at] = [until === null ? null : new Date(until), new Date(createdAt)];
  return { project_id: projectId, kind, value, reason, until: end, created_at };
}

function frontKey({ project_id, kind, value, reason, until, created_at }: WrittenRow): string {
  return JSON.stringify([project_id, kind, value, reason, until, created_at]);
}

function normalised(kind: SuppressedKind, value: string): string {
  return kind === 'email' ? normaliseAddress(value) : value;
}

type LiftInput = {
  targets: SuppressionTarget[];
  /** Only suppressions with these reasons are lifted. */
  reasons: readonly SuppressionReason[];
  at: number;
  by: string;
};

/**
 * Removes the selected entries of the places `among`, in front or below, and no others. The strongest remaining entry comes to the front.
 * `locked` holds the rows before the change.
 */
function liftSql(among: string, isMeant: (word: { reason: string; by: string }) => string): string {
  const sameTarget = 's.project_id = locked.project_id AND s.kind = locked.kind AND s.value = locked.value';
  return `locked AS MATERIALIZED (
      SELECT *, ${isMeant({ reason: 'reason', by: 'created_by' })} AS is_meant,
        coalesce((SELECT jsonb_agg(word ORDER BY n) FROM jsonb_array_elements(${entriesSql('suppression')}) WITH ORDINALITY AS each(word, n)
          WHERE NOT ${isMeant({ reason: `word->>'reason'`, by: `word->>'created_by'` })}), '[]') AS staying
      FROM beckon.suppression WHERE ${among} FOR UPDATE
    ), gone AS (
      DELETE FROM beckon.suppression s USING locked WHERE ${sameTarget} AND locked.staying = '[]'
    ), lessened AS (
      UPDATE beckon.suppression s SET ${setSql('locked.staying')}
      FROM locked WHERE ${sameTarget} AND locked.staying <> '[]' AND locked.staying <> ${entriesSql('locked')}
    )`;
}

/**
 * Lifts suppressions with one of these reasons and records who lifted them. Entries of other sides stay in force. Returns the number of
 * lifted suppressions.
 */
export async function liftSuppressions(
  tx: Tx,
  { targets: places, reasons, at, by }: LiftInput,
): Promise<number> {
  if (places.length === 0) return 0;
  const rows = await tx.prepared({
    name: 'suppressions.lift',
    text: `WITH ${liftSql(
      '(project_id, kind, value) IN (SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[]))',
      ({ reason }) => `${reason} = ANY ($4::text[])`,
    )}
           INSERT INTO beckon.suppression_lift AS existing
             (project_id, kind, recipient_hash, reason, suppressed_at, suppressed_by, lifted_at, lifted_by)
           SELECT project_id, kind, sha256(convert_to(value, 'UTF8')), reason, created_at, created_by, $5, $6 FROM locked WHERE is_meant
           ON CONFLICT (project_id, kind, recipient_hash) DO UPDATE SET
             reason = excluded.reason, suppressed_at = excluded.suppressed_at, suppressed_by = excluded.suppressed_by,
             lifted_at = excluded.lifted_at, lifted_by = excluded.lifted_by
           RETURNING 1`,
    values: [
      plainList(places.map((target) => target.projectId)),
      places.map((target) => target.kind),
      places.map((target) => normalised(target.kind, target.value)),
      [...reasons],
      new Date(at),
      by,
    ],
  });
  return rows.length;
}

/** Unsubscribes these places from some topics and resubscribes them to others. */
export async function setTopicUnsubscribes(
  tx: Tx,
  {
    targets: places,
    refused,
    accepted,
    at,
  }: { targets: SuppressionTarget[]; refused: string[]; accepted: string[]; at: number },
): Promise<void> {
  const targetColumns = [
    plainList(places.map((target) => target.projectId)),
    places.map((target) => target.kind),
    places.map((target) => normalised(target.kind, target.value)),
  ];
  await tx.query(
    `DELETE FROM beckon.topic_unsubscribe WHERE (project_id, kind, value) IN (
       SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[])) AND topic = ANY ($4::text[])`,
    [...targetColumns, accepted],
  );
  await tx.query(
    `INSERT INTO beckon.topic_unsubscribe (project_id, kind, value, topic, created_at)
     SELECT p.project_id, p.kind, p.value, t.topic, $5
     FROM unnest($1::bigint[], $2::text[], $3::text[]) AS p(project_id, kind, value) CROSS JOIN unnest($4::text[]) AS t(topic)
     ON CONFLICT DO NOTHING`,
    [...targetColumns, refused, new Date(at)],
  );
}

/** Lifts all suppressions that this author set for this reason. Returns their number. */
export async function liftSuppressionsBy(
  tx: Tx,
  { projectId, reason, createdBy }: { projectId: number; reason: SuppressionReason; createdBy: string },
): Promise<number> {
  const rows = await tx.query(
    `WITH ${liftSql(
      `project_id = $1 AND ((reason = $2 AND created_by = $3)
         OR ('[]'::jsonb || weaker_entries) @> jsonb_build_array(jsonb_build_object('reason', $2::text, 'created_by', $3::text)))`,
      (word) => `(${word.reason} = $2 AND ${word.by} = $3)`,
    )}
     SELECT 1 FROM locked WHERE is_meant`,
    [projectId, reason, createdBy],
  );
  return rows.length;
}
