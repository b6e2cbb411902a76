import {
  mergedSql,
  setSql,
  strongestOfSides,
  type SuppressedKind,
  type SuppressedPlace,
  type Suppression,
  type SuppressionReason,
  WORD_COLUMNS,
  wordsSql,
} from './suppression.ts';
import { momentList, plainList } from '../../../platform/db/list.ts';
import type { Tx } from '../../../platform/db/statements.ts';
import { normaliseAddress } from '../../../platform/net/address.ts';
import { iso, isoOrNull } from '../../../platform/time/clock.ts';

/**
 * Adds suppressions. An address or a user has one row. A later entry never ends a suppression earlier: it comes to the front only if it
 * lasts longer, or as long with a higher rank. The entries of the three sides are kept separately (`words.ts`). Returns the places at which
 * a new entry is in front.
 */
export async function addSuppressions(tx: Tx, given: Suppression[]): Promise<SuppressedPlace[]> {
  if (given.length === 0) return [];
  const places = inOrder(given.map((one) => ({ ...one, value: normalised(one.kind, one.value) })));
  const rows = places.map(({ front }) => front);
  const written = await tx.prepared<WrittenRow>({
    name: 'suppressions.add',
    text: `INSERT INTO beckon.suppression AS known (project_id, kind, value, ${WORD_COLUMNS}, beneath, from_erased)
           SELECT project_id, kind, value, ${WORD_COLUMNS}, beneath::jsonb, kind NOT IN ('email', 'user')
           FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::timestamptz[], $7::text[], $8::text[])
             AS given(project_id, kind, value, ${WORD_COLUMNS}, beneath)
           ON CONFLICT (project_id, kind, value) DO UPDATE SET ${setSql(mergedSql('known', 'excluded'))}
           WHERE ${mergedSql('known', 'excluded')} <> ${wordsSql('known')}
           RETURNING project_id, kind, value, reason, until, created_at`,
    values: [
      plainList(rows.map((row) => row.projectId)),
      rows.map((row) => row.kind),
      rows.map((row) => row.value),
      rows.map((row) => row.reason),
      momentList(rows.map((row) => row.until)),
      momentList(rows.map((row) => row.createdAt)),
      rows.map((row) => row.createdBy),
      places.map(({ beneath }) => (beneath.length === 0 ? null : JSON.stringify(beneath.map(toWord)))),
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

type Said = { front: Suppression; beneath: Suppression[] };

/** Merges rows so that each place occurs once, as the statement requires, and sorts them by the order in which all writers lock them. */
function inOrder(rows: Suppression[]): Said[] {
  const places = Map.groupBy(rows, ({ projectId, kind, value }) => `${projectId} ${kind} ${value}`);
  const sorted = [...places].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return sorted.flatMap(([, said]) => {
    const [front, ...beneath] = strongestOfSides(said);
    return front ? [{ front, beneath }] : [];
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

type Lifting = {
  places: SuppressedPlace[];
  /** Only suppressions with these reasons are lifted. */
  reasons: readonly SuppressionReason[];
  at: number;
  by: string;
};

/**
 * Removes the selected entries of the places `among`, in front or below, and no others. The strongest remaining entry comes to the front.
 * `said` holds the rows before the change.
 */
function liftSql(among: string, isMeant: (word: { reason: string; by: string }) => string): string {
  const own = 's.project_id = said.project_id AND s.kind = said.kind AND s.value = said.value';
  return `said AS MATERIALIZED (
      SELECT *, ${isMeant({ reason: 'reason', by: 'created_by' })} AS is_meant,
        coalesce((SELECT jsonb_agg(word ORDER BY n) FROM jsonb_array_elements(${wordsSql('suppression')}) WITH ORDINALITY AS each(word, n)
          WHERE NOT ${isMeant({ reason: `word->>'reason'`, by: `word->>'created_by'` })}), '[]') AS staying
      FROM beckon.suppression WHERE ${among} FOR UPDATE
    ), gone AS (
      DELETE FROM beckon.suppression s USING said WHERE ${own} AND said.staying = '[]'
    ), lessened AS (
      UPDATE beckon.suppression s SET ${setSql('said.staying')}
      FROM said WHERE ${own} AND said.staying <> '[]' AND said.staying <> ${wordsSql('said')}
    )`;
}

/**
 * Lifts suppressions with one of these reasons and records who lifted them. Entries of other sides stay in force. Returns the number of
 * lifted suppressions.
 */
export async function liftSuppressions(tx: Tx, { places, reasons, at, by }: Lifting): Promise<number> {
  if (places.length === 0) return 0;
  const rows = await tx.prepared({
    name: 'suppressions.lift',
    text: `WITH ${liftSql(
      '(project_id, kind, value) IN (SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[]))',
      ({ reason }) => `${reason} = ANY ($4::text[])`,
    )}
           INSERT INTO beckon.suppression_lift AS known
             (project_id, kind, place, reason, suppressed_at, suppressed_by, lifted_at, lifted_by)
           SELECT project_id, kind, sha256(convert_to(value, 'UTF8')), reason, created_at, created_by, $5, $6 FROM said WHERE is_meant
           ON CONFLICT (project_id, kind, place) DO UPDATE SET
             reason = excluded.reason, suppressed_at = excluded.suppressed_at, suppressed_by = excluded.suppressed_by,
             lifted_at = excluded.lifted_at, lifted_by = excluded.lifted_by
           RETURNING 1`,
    values: [
      plainList(places.map((place) => place.projectId)),
      places.map((place) => place.kind),
      places.map((place) => normalised(place.kind, place.value)),
      [...reasons],
      new Date(at),
      by,
    ],
  });
  return rows.length;
}

/** Unsubscribes these places from some topics and resubscribes them to others. */
export async function setRefusals(
  tx: Tx,
  {
    places,
    refused,
    wanted,
    at,
  }: { places: SuppressedPlace[]; refused: string[]; wanted: string[]; at: number },
): Promise<void> {
  const ofPlaces = [
    plainList(places.map((place) => place.projectId)),
    places.map((place) => place.kind),
    places.map((place) => normalised(place.kind, place.value)),
  ];
  await tx.query(
    `DELETE FROM beckon.topic_refusal WHERE (project_id, kind, value) IN (
       SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[])) AND topic = ANY ($4::text[])`,
    [...ofPlaces, wanted],
  );
  await tx.query(
    `INSERT INTO beckon.topic_refusal (project_id, kind, value, topic, created_at)
     SELECT p.project_id, p.kind, p.value, t.topic, $5
     FROM unnest($1::bigint[], $2::text[], $3::text[]) AS p(project_id, kind, value) CROSS JOIN unnest($4::text[]) AS t(topic)
     ON CONFLICT DO NOTHING`,
    [...ofPlaces, refused, new Date(at)],
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
         OR ('[]'::jsonb || beneath) @> jsonb_build_array(jsonb_build_object('reason', $2::text, 'created_by', $3::text)))`,
      (word) => `(${word.reason} = $2 AND ${word.by} = $3)`,
    )}
     SELECT 1 FROM said WHERE is_meant`,
    [projectId, reason, createdBy],
  );
  return rows.length;
}

/** A row of `suppression_key`, which has only one. */
export type SuppressionKeyRow = { sealed: Buffer };

export async function findSealedKey(tx: Tx): Promise<SuppressionKeyRow | undefined> {
  const [row] = await tx.query<SuppressionKeyRow>(`SELECT sealed FROM beckon.suppression_key`);
  return row;
}

/** Keeps a key that another process stored first. */
export async function insertSealedKey(tx: Tx, row: SuppressionKeyRow & { createdAt: Date }): Promise<void> {
  await tx.query(
    `INSERT INTO beckon.suppression_key (sealed, created_at) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
    [row.sealed, row.createdAt],
  );
}

export async function updateSealedKey(tx: Tx, { sealed }: SuppressionKeyRow): Promise<void> {
  await tx.query(`UPDATE beckon.suppression_key SET sealed = $1`, [sealed]);
}
