import { normaliseAddress } from '../../base/address.ts';
import { momentList, plainList, type Tx } from '../../io/db/index.ts';
import {
  LIFTED_BY_LIFE,
  SAID_BY_RECIPIENT,
  type SuppressedKind,
  type Suppression,
  type SuppressionReason,
} from './suppression.ts';

/**
 * `suppression`, of which an address or a person has one row. Whatever comes later never lets letters through earlier: it
 * takes the place of the row only if it lasts longer, or as long and is worth more. What recipients said themselves is worth
 * most, for lifting anything else must not undo it, and a bounce least. Of what recipients said and of what others did, the
 * weaker is kept beneath the stronger, for neither lifts the other. Those that are in force by it.
 */
export async function addSuppressions(tx: Tx, given: Suppression[]): Promise<SuppressedPlace[]> {
  if (given.length === 0) return [];
  const rows = inOrder(given.map((one) => ({ ...one, value: normalised(one.kind, one.value) })));
  const added = await tx.prepared<{
    project_id: number;
    kind: SuppressedKind;
    value: string;
    reason: string;
  }>({
    name: 'suppressions.add',
    text: `INSERT INTO beckon.suppression AS known (project_id, kind, value, reason, until, created_at, created_by)
           SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::timestamptz[], $7::text[])
           ON CONFLICT (project_id, kind, value) DO UPDATE SET
             reason = CASE WHEN ${WINS} THEN excluded.reason ELSE known.reason END,
             until = CASE WHEN ${WINS} THEN excluded.until ELSE known.until END,
             created_at = CASE WHEN ${WINS} THEN excluded.created_at ELSE known.created_at END,
             created_by = CASE WHEN ${WINS} THEN excluded.created_by ELSE known.created_by END,
             beneath = CASE WHEN ${IS_SAME_SIDE} THEN known.beneath WHEN ${WINS} THEN ${beneath('known')} ELSE ${beneath('excluded')} END
           WHERE ${WINS} OR (NOT ${IS_SAME_SIDE} AND (known.beneath IS NULL OR ${beats(EXCLUDED, BENEATH)}))
           RETURNING project_id, kind, value, reason`,
    values: [
      plainList(rows.map((row) => row.projectId)),
      rows.map((row) => row.kind),
      rows.map((row) => row.value),
      rows.map((row) => row.reason),
      momentList(rows.map((row) => row.until)),
      momentList(rows.map((row) => row.createdAt)),
      rows.map((row) => row.createdBy),
    ],
  });
  const inFront = new Set(rows.map((row) => `${placeKey(row)} ${row.reason}`));
  return added
    .map(({ project_id: projectId, kind, value, reason }) => ({ projectId, kind, value, reason }))
    .filter((row) => inFront.has(`${placeKey(row)} ${row.reason}`))
    .map(({ projectId, kind, value }) => ({ projectId, kind, value }));
}

/** Whether it is in force by this one. */
export async function addSuppression(tx: Tx, suppression: Suppression): Promise<boolean> {
  return (await addSuppressions(tx, [suppression])).length > 0;
}

function placeKey({ projectId, kind, value }: SuppressedPlace): string {
  return `${projectId} ${kind} ${value}`;
}

/** Each place once, as the statement wants it, and in the order in which everybody locks them. */
function inOrder(rows: Suppression[]): Suppression[] {
  const places = new Map<string, Suppression>();
  for (const row of rows) {
    const key = placeKey(row);
    const known = places.get(key);
    if (!known || isStronger(row, known)) places.set(key, row);
  }
  return [...places].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
}

function isStronger(one: Suppression, other: Suppression): boolean {
  const [a, b] = [one.until ?? Infinity, other.until ?? Infinity];
  return a > b || (a === b && worthOf(one.reason) > worthOf(other.reason));
}

function worthOf(reason: SuppressionReason): number {
  if (SAID_BY_RECIPIENT.some((one) => one === reason)) return 2;
  return LIFTED_BY_LIFE.some((one) => one === reason) ? 0 : 1;
}

const list = (reasons: readonly string[]): string => `('${reasons.join("', '")}')`;

function worth(column: string): string {
  return `CASE WHEN ${column} IN ${list(SAID_BY_RECIPIENT)} THEN 2 WHEN ${column} IN ${list(LIFTED_BY_LIFE)} THEN 0 ELSE 1 END`;
}

/** What was said of a place, as SQL names it. */
type Word = { reason: string; until: string };
const KNOWN: Word = { reason: 'known.reason', until: 'known.until' };
const EXCLUDED: Word = { reason: 'excluded.reason', until: 'excluded.until' };
const BENEATH: Word = {
  reason: `known.beneath->>'reason'`,
  until: `(known.beneath->>'until')::timestamptz`,
};

function beats(one: Word, other: Word): string {
  const end = ({ until }: Word): string => `coalesce(${until}, 'infinity')`;
  return `(${end(one)} > ${end(other)} OR (${end(one)} = ${end(other)} AND ${worth(one.reason)} > ${worth(other.reason)}))`;
}

const WINS = beats(EXCLUDED, KNOWN);
const IS_SAME_SIDE = `((known.reason IN ${list(SAID_BY_RECIPIENT)}) = (excluded.reason IN ${list(SAID_BY_RECIPIENT)}))`;

function beneath(row: 'known' | 'excluded'): string {
  return `jsonb_build_object('reason', ${row}.reason, 'until', ${row}.until, 'created_at', ${row}.created_at, 'created_by', ${row}.created_by)`;
}

export type SuppressedPlace = { projectId: number; kind: SuppressedKind; value: string };

function normalised(kind: SuppressedKind, value: string): string {
  return kind === 'address' ? normaliseAddress(value) : value;
}

export type Lifting = {
  places: SuppressedPlace[];
  /** Of these alone. */
  reasons: readonly SuppressionReason[];
  at: number;
  by: string;
};

/** `said`: what stands `among` these places; where that or what is beneath it is meant, it is gone, and only that. */
function liftSql(among: string, isMeant: (word: { reason: string; by: string }) => string): string {
  const own = 's.project_id = said.project_id AND s.kind = said.kind AND s.value = said.value';
  return `said AS MATERIALIZED (
      SELECT *, ${isMeant({ reason: 'reason', by: 'created_by' })} AS is_meant,
        coalesce(${isMeant({ reason: `beneath->>'reason'`, by: `beneath->>'created_by'` })}, true) AS is_alone
      FROM beckon.suppression WHERE ${among} FOR UPDATE
    ), gone AS (
      DELETE FROM beckon.suppression s USING said WHERE ${own} AND said.is_meant AND said.is_alone
    ), risen AS (
      UPDATE beckon.suppression s SET reason = s.beneath->>'reason', until = (s.beneath->>'until')::timestamptz,
        created_at = (s.beneath->>'created_at')::timestamptz, created_by = s.beneath->>'created_by', beneath = NULL
      FROM said WHERE ${own} AND said.is_meant AND NOT said.is_alone
    ), uncovered AS (
      UPDATE beckon.suppression s SET beneath = NULL
      FROM said WHERE ${own} AND NOT said.is_meant AND said.is_alone AND said.beneath IS NOT NULL
    )`;
}

/** Whoever is suppressed for one of these reasons gets letters again, unless the other side spoke too; who lifted it is written down. How many there were. */
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

/**
 * How many rows named this person, with the topics that they refused. What is said of their address stays, for whoever has it wanted no letters,
 * and would get them if the same person were sent once more.
 */
export async function eraseSuppressions(
  tx: Tx,
  { projectId, userId }: { projectId: number; userId: string },
): Promise<number> {
  const refused = await tx.query(
    `DELETE FROM beckon.topic_refusal WHERE project_id = $1 AND kind = 'person' AND value = $2 RETURNING 1`,
    [projectId, userId],
  );
  const rows = await tx.query(
    `DELETE FROM beckon.suppression WHERE project_id = $1 AND kind = 'person' AND value = $2 RETURNING 1`,
    [projectId, userId],
  );
  return rows.length + refused.length;
}

/** From now on no letters about these topics, and letters about these others again. */
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

/** Those that somebody set for this reason, all of them. How many there were. */
export async function liftSuppressionsBy(
  tx: Tx,
  { projectId, reason, createdBy }: { projectId: number; reason: SuppressionReason; createdBy: string },
): Promise<number> {
  const rows = await tx.query(
    `WITH ${liftSql(
      `project_id = $1 AND ((reason = $2 AND created_by = $3) OR (beneath->>'reason' = $2 AND beneath->>'created_by' = $3))`,
      (word) => `(${word.reason} = $2 AND ${word.by} = $3)`,
    )}
     SELECT 1 FROM said WHERE is_meant`,
    [projectId, reason, createdBy],
  );
  return rows.length;
}
