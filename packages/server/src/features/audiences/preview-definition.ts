import { mentionsOf, type Predicate, predicateSql, sqlParams } from '../../base/predicate/index.ts';
import type { Tx } from '../../io/db/index.ts';
import { invalid, readDefinition } from './audience.ts';
import { listCurrent, seen, sentenceFor } from './current.ts';
import { listUncounted } from './reads.ts';
import { checkReferences } from './references.ts';

export type Preview = {
  count: number;
  /** The first of them, in the order of their ids. */
  sample: { external_user_id: string }[];
  sentence: string;
  /** Events asked about over all time that nobody asked about before: until they are counted they seem not to have happened. */
  uncountedEvents: string[];
};

const SAMPLE_PEOPLE = 20;
const PREVIEW_WITHIN_MS = 5_000;
const QUERY_CANCELED = '57014';

/** Whom a definition would hold for now. Inside a transaction, whose statements it bounds while it counts. */
export async function previewDefinition(
  tx: Tx,
  wanted: { projectId: number; definition: unknown; now: Date; withinMs?: number },
): Promise<Preview> {
  const { projectId, definition, now, withinMs = PREVIEW_WITHIN_MS } = wanted;
  const predicate = readDefinition(definition);
  const audiences = await listCurrent(tx, projectId);
  checkReferences(audiences, null, predicate);
  const editions = new Map(audiences.map((audience) => [audience.id, seen(audience).edition]));
  const found = await findMatching(tx, predicate, { projectId, now, editions, withinMs });
  return {
    count: found.count,
    sample: found.sample.map((external_user_id) => ({ external_user_id })),
    sentence: sentenceFor(predicate, audiences),
    uncountedEvents: await listUncounted(tx, projectId, [...mentionsOf(predicate).totals]),
  };
}

type Matching = { count: number; sample: string[] };
type Asked = { projectId: number; now: Date; editions: Map<string, number>; withinMs: number };

/** Reads the tables of the people's and the events' rooms, as the predicate asks. */
async function findMatching(tx: Tx, predicate: Predicate, asked: Asked): Promise<Matching> {
  const params = sqlParams([asked.projectId, asked.now]);
  const condition = predicateSql(predicate, {
    params,
    projectId: '$1',
    now: '$2',
    edition: (audienceId) => asked.editions.get(audienceId) ?? null,
  });
  const text = `WITH matching AS MATERIALIZED (
      SELECT p.external_user_id FROM beckon.person p
      WHERE p.project_id = $1 AND $2::timestamptz IS NOT NULL AND ${condition}
    )
    SELECT (SELECT count(*) FROM matching) AS count,
      ARRAY(SELECT external_user_id FROM matching ORDER BY external_user_id LIMIT ${SAMPLE_PEOPLE}) AS sample`;
  await tx.query(`SET LOCAL statement_timeout = ${asked.withinMs}`);
  try {
    const [row] = await tx.query<Matching>(text, params.values);
    await tx.query('SET LOCAL statement_timeout TO DEFAULT');
    return row ?? { count: 0, sample: [] };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === QUERY_CANCELED) throw tooLong(asked);
    throw error;
  }
}

function tooLong({ withinMs }: Asked) {
  return invalid(
    `definition takes more than ${withinMs / 1_000} s to count: it can be created all the same, and is then counted in the background`,
    'definition',
  );
}
