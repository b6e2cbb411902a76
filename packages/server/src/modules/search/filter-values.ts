import type { SuggestedKind, SuggestedValue } from '@beckon/contract/dashboard';
import type { Tx } from '../../platform/db/statements.ts';

export type ValuesQuery = { projectId: number; of: SuggestedKind; text: string };

const VALUES_MAX = 10;
/** Traits are read from this many users at both ends of the order of their ids. Others can be typed. */
const USERS_READ = 1_000;

/** Lists values of a filter key that contain a text, those that begin with it first. Reads tables of the modules that own the values. */
export function listFilterValues(tx: Tx, { projectId, of, text }: ValuesQuery): Promise<SuggestedValue[]> {
  const pattern = `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;
  return tx.query<SuggestedValue>(
    `SELECT v.value, v.label FROM (${SOURCES[of]}) v(value, label, rank)
     WHERE v.value ILIKE $2::text OR v.label ILIKE $2::text
     ORDER BY (starts_with(lower(coalesce(v.label, v.value)), lower($3::text))) DESC, v.rank DESC, v.value
     LIMIT ${VALUES_MAX}`,
    [projectId, pattern, text],
  );
}

const named = (table: string): string =>
  `SELECT name, NULL::text, 0::bigint FROM beckon.${table} WHERE project_id = $1`;

const SAMPLED = `(SELECT * FROM (SELECT plan, company, role, traits FROM beckon.person WHERE project_id = $1
    ORDER BY external_user_id LIMIT ${USERS_READ}) first
  UNION ALL SELECT * FROM (SELECT plan, company, role, traits FROM beckon.person WHERE project_id = $1
    ORDER BY external_user_id DESC LIMIT ${USERS_READ}) last) sampled`;

const trait = (column: string): string =>
  `SELECT ${column}, NULL::text, count(*) FROM ${SAMPLED} WHERE ${column} IS NOT NULL GROUP BY 1`;

/** Each with the columns value, label and rank. */
const SOURCES: Record<SuggestedKind, string> = {
  rule: named('rule'),
  template: `SELECT DISTINCT template, NULL::text, 0::bigint FROM (
      SELECT name AS template FROM beckon.template WHERE project_id = $1
      UNION ALL SELECT template FROM (SELECT template FROM beckon.email WHERE project_id = $1 AND template IS NOT NULL
        ORDER BY claimed_at DESC LIMIT ${USERS_READ}) recent) t`,
  audience: named('audience'),
  event: `SELECT name, NULL::text, sum(count)::bigint FROM beckon.event_volume WHERE project_id = $1 GROUP BY name`,
  plan: trait('plan'),
  company: trait('company'),
  role: trait('role'),
  trait: `SELECT t.key, NULL::text, count(*) FROM ${SAMPLED} CROSS JOIN LATERAL jsonb_object_keys(traits) t(key) GROUP BY 1`,
  topic: `SELECT DISTINCT split_part(btrim(t), ':', 1), btrim(substr(t, strpos(t, ':') + 1)), 0::bigint
    FROM beckon.project_settings, string_to_table(settings ->> 'topics', ',') t WHERE project_id = $1 AND t LIKE '%:%'`,
  domain: `SELECT DISTINCT domain, NULL::text, 0::bigint FROM (
      SELECT domain FROM beckon.email WHERE project_id = $1 AND domain IS NOT NULL
      ORDER BY claimed_at DESC LIMIT ${USERS_READ}) recent`,
  api_key: `SELECT id::text, label, 0::bigint FROM beckon.api_key WHERE project_id = $1`,
};
