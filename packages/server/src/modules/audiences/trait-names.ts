import type { Tx } from '../../platform/db/statements.ts';
import { isKnownTrait } from '../users/index.ts';

/** A trait that users of a project have, with its types and examples. */
export type TraitName = { trait: string; types: string[]; known: boolean; examples: string[] };

/** The number of users to read from both ends of the id order. A trait that none of them has is not suggested, but it can be typed. */
const LOOKED_AT = 1_000;
const NAMES_MAX = 300;
const EXAMPLES = 5;
const EXAMPLE_CHARS = 60;

/** Lists traits, most frequent first. */
export async function listTraitNames(tx: Tx, projectId: number): Promise<TraitName[]> {
  const people = `SELECT name, plan, signup_date, company, role, traits FROM beckon.person WHERE project_id = $1 ORDER BY external_user_id`;
  const rows = await tx.query<Omit<TraitName, 'known'>>(
    `WITH sampled AS (
       (${people} LIMIT ${LOOKED_AT}) UNION ALL (${people} DESC LIMIT ${LOOKED_AT})
     ), trait AS (
       SELECT t.key AS trait, t.value FROM sampled CROSS JOIN LATERAL jsonb_each(traits) t
       UNION ALL
       SELECT k.key, to_jsonb(k.value) FROM sampled CROSS JOIN LATERAL (VALUES
         ('name', name), ('plan', plan), ('signupDate', signup_date), ('company', company), ('role', role)
       ) AS k(key, value) WHERE k.value IS NOT NULL
     )
     SELECT trait, array_agg(DISTINCT jsonb_typeof(value)) AS types,
       coalesce((array_agg(DISTINCT left(value #>> '{}', ${EXAMPLE_CHARS}))
         FILTER (WHERE jsonb_typeof(value) IN ('string', 'number', 'boolean')))[1:${EXAMPLES}], '{}') AS examples
     FROM trait GROUP BY trait ORDER BY count(*) DESC, trait LIMIT ${NAMES_MAX}`,
    [projectId],
  );
  return rows.map((row) => ({ ...row, known: isKnownTrait(row.trait) }));
}
