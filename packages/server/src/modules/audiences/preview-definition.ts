import { mentionsOf } from '../../platform/predicate/mentions.ts';
import type { Predicate } from '../../platform/predicate/predicate.ts';
import { predicateSql } from '../../platform/predicate/sql.ts';
import { sqlParams } from '../../platform/predicate/sql-values.ts';
import { isCanceled } from '../../platform/db/errors.ts';
import type { Tx } from '../../platform/db/statements.ts';
import { invalid, readDefinition } from './audience.ts';
import { listCurrent, visibleVersion, sentenceFor } from './current-versions.ts';
import { listUncounted } from './reads.ts';
import { checkReferences } from './references.ts';

export type AudiencePreview = {
  count: number;
  /** The first matching users by id. */
  sample: { external_user_id: string }[];
  sentence: string;
  /** Events that are counted over all time here and nowhere before. Until they are counted, they seem not to have happened. */
  uncountedEvents: string[];
  /** How many users time alone will add and remove before `until`. */
  enters: number;
  leaves: number;
  /** If the definition replaces that of an audience: how many users it adds and removes. */
  edit: { joins: number; leaves: number } | null;
};

export type AudiencePreviewQuery = {
  projectId: number;
  definition: unknown;
  now: Date;
  withinMs?: number;
  /** Without it, the preview does not cover any time after now. */
  until?: Date;
  /** The id of the audience that would get this definition. */
  audienceId?: string;
};

const SAMPLE_PEOPLE = 20;
const PREVIEW_WITHIN_MS = 5_000;

/** Counts the users that match a definition now. Needs its own transaction, because it sets a statement timeout from the count on. */
export async function previewDefinition(tx: Tx, query: AudiencePreviewQuery): Promise<AudiencePreview> {
  const { projectId, definition, now, withinMs = PREVIEW_WITHIN_MS, until = now, audienceId = null } = query;
  const predicate = readDefinition(definition);
  const audiences = await listCurrent(tx, projectId);
  checkReferences(audiences, audienceId, predicate);
  const versionIds = new Map(audiences.map((audience) => [audience.id, visibleVersion(audience).versionId]));
  const replaced = audienceId === null ? null : (versionIds.get(audienceId) ?? null);
  const matchQuery = { projectId, now, until, versionIds, replaced, withinMs };
  const { sample, ...found } = await findMatching(tx, predicate, matchQuery);
  return {
    count: found.count,
    sample: sample.map((external_user_id) => ({ external_user_id })),
    sentence: sentenceFor(predicate, audiences),
    uncountedEvents: await listUncounted(tx, projectId, [...mentionsOf(predicate).totals]),
    enters: found.enters,
    leaves: found.leaves,
    edit: replaced === null ? null : { joins: found.joins, leaves: found.parts },
  };
}

/** Returns a definition in words. Rejects an invalid definition, or one that refers to a missing audience, with the path of each error. */
export async function describeDefinition(
  tx: Tx,
  query: { projectId: number; definition: unknown; audienceId?: string },
): Promise<string> {
  const predicate = readDefinition(query.definition);
  const audiences = await listCurrent(tx, query.projectId);
  checkReferences(audiences, query.audienceId ?? null, predicate);
  return sentenceFor(predicate, audiences);
}

type MatchCounts = {
  count: number;
  sample: string[];
  enters: number;
  leaves: number;
  joins: number;
  parts: number;
};
type MatchQuery = {
  projectId: number;
  now: Date;
  until: Date;
  versionIds: Map<string, number>;
  replaced: number | null;
  withinMs: number;
};

/** Reads the tables of the `people` and `events` modules, as the predicate needs them. */
async function findMatching(tx: Tx, predicate: Predicate, query: MatchQuery): Promise<MatchCounts> {
  const params = sqlParams([query.projectId, query.now, query.until, query.replaced]);
  const conditionAt = (now: string): string =>
    predicateSql(predicate, {
      params,
      projectId: '$1',
      now,
      versionId: (audienceId) => query.versionIds.get(audienceId) ?? null,
    });
  const condition = conditionAt('$2');
  // Without a timed condition or a later `until`, one evaluation is enough.
  const isTimed = mentionsOf(predicate).timed && query.until > query.now;
  const people = `SELECT p.external_user_id FROM beckon.person p WHERE p.project_id = $1`;
  const text = `WITH matching AS MATERIALIZED (${people} AND ${condition}),
    later AS MATERIALIZED (${isTimed ? `${people} AND ${conditionAt('$3')}` : 'SELECT * FROM matching'}),
    until_then AS (
      SELECT count(*) AS later, count(k.external_user_id) AS stay FROM later l LEFT JOIN matching k USING (external_user_id)
    ), replaced AS (
      SELECT count(*) AS members, count(k.external_user_id) AS stay FROM beckon.audience_member m
      LEFT JOIN matching k ON k.external_user_id = m.external_user_id
      WHERE m.project_id = $1 AND m.version_id + 0 = $4::bigint
    ), counted AS (
      SELECT count(*) AS count FROM matching WHERE $2::timestamptz <= $3::timestamptz
    )
    SELECT c.count, t.later - t.stay AS enters, c.count - t.stay AS leaves, c.count - r.stay AS joins, r.members - r.stay AS parts,
      ARRAY(SELECT external_user_id FROM matching ORDER BY external_user_id LIMIT ${SAMPLE_PEOPLE}) AS sample
    FROM counted c, until_then t, replaced r`;
  await tx.query(`SET LOCAL statement_timeout = ${query.withinMs}`);
  try {
    const [row] = await tx.query<MatchCounts>(text, params.values);
    if (!row) throw new Error('a count that counted nothing');
    return row;
  } catch (error) {
    throw isCanceled(error) ? tooLong(query) : error;
  }
}

function tooLong({ withinMs }: MatchQuery) {
  return invalid(
    `definition takes more than ${withinMs / 1_000} s to count: it can be created all the same, and is then counted in the background`,
    'definition',
  );
}
