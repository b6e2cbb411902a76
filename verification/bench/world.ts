import { createHash } from 'node:crypto';
import type pg from 'pg';
import { parsePredicate } from '../../packages/server/src/platform/predicate/parse.ts';
import type { Predicate } from '../../packages/server/src/platform/predicate/predicate.ts';
import { predicateSql } from '../../packages/server/src/platform/predicate/sql.ts';
import { sqlParams } from '../../packages/server/src/platform/predicate/sql-values.ts';
import { ensurePartitions } from '../../packages/server/src/modules/users/events/partitions.ts';
import { createAudience } from '../../packages/server/src/modules/audiences/change-audience.ts';
import type { Database } from '../../packages/server/src/platform/db/database.ts';
import { fillInSteps, withClient } from './fill.ts';
import { listRuleNeeds } from '../../packages/server/src/modules/rules/runs/rules-in-force.ts';

/**
 * A project as it is after some weeks of use, created by bulk SQL in the shape that processing itself would have left.
 *
 * Users. The first `lapsed` of them did each thing once, 40 days ago. All others are active: they did each thing four times within the last
 * 30 days, once within the last 6. They were seen within the hour.
 *
 * Audiences. Three events are used by five audiences each; five more audiences use traits alone. So an event affects 5 of the 20, and a
 * user whose `seats` change affects the other 5. The first three audiences of an event are the most common kinds: lately (with a
 * trait), three times in 30 days, three times ever. The other two are once but not for 7 days, and at least a given sum in 30 days.
 * Audiences beyond 20 use events that are never sent.
 *
 * Changes. An event of an active user changes no membership: each of the five either holds already or cannot hold, whatever they do more.
 * An event of a lapsed user changes two: the user did it lately, and it is no longer 7 days. If one of a hundred events names a lapsed
 * user, each user once, then 1 % of the events change a membership.
 */
export const EVENT_NAMES = ['feature_used', 'report_exported', 'invoice_paid'] as const;
const NEVER_SENT = 'never_sent';

export type Audience = { name: string; definition: object };

export function audiences(count: number): Audience[] {
  const list = [...EVENT_NAMES.flatMap(ofEvent), ...OF_TRAITS];
  for (let n = 0; list.length < count; n += 5) list.push(...ofEvent(`${NEVER_SENT}_${n / 5}`));
  return list.slice(0, count);
}

/** Returns the five audiences that use one event. */
export function ofEvent(event: string): Audience[] {
  const audience = (label: string, definition: object): Audience => ({
    name: `${event}: ${label}`,
    definition,
  });
  return [
    audience('admins, lately', {
      all: [
        { event, within: '7d' },
        { trait: 'role', equals: 'admin' },
      ],
    }),
    audience('often', { event, at_least: 3, within: '30d' }),
    audience('three times ever', { event, at_least: 3 }),
    audience('not for 7 days', { all: [{ event }, { not: { event, within: '7d' } }] }),
    audience('much', { event, sum: 'amount', at_least: 20, within: '30d' }),
  ];
}

const OF_TRAITS: Audience[] = [
  { name: 'a hundred seats', definition: { trait: 'seats', at_least: 100 } },
  {
    name: 'pro with 50 seats',
    definition: {
      all: [
        { trait: 'plan', equals: 'pro' },
        { trait: 'seats', at_least: 50 },
      ],
    },
  },
  {
    name: 'trial with 20 seats',
    definition: {
      all: [
        { trait: 'plan', equals: 'trial' },
        { trait: 'seats', at_least: 20 },
      ],
    },
  },
  {
    name: 'large',
    definition: {
      any: [
        { trait: 'seats', at_least: 500 },
        { trait: 'company', equals: 'Acme' },
      ],
    },
  },
  {
    name: 'seats at Acme',
    definition: {
      all: [
        { trait: 'seats', at_least: 1 },
        { user: 'email', ends_with: '@acme.com' },
      ],
    },
  },
];

export type World = {
  projectId: number;
  people: number;
  lapsed: number;
  /** The number of each event per active user. */
  eventsOfEach: number;
  /** Stores no timers: a benchmark that measures them writes its own. */
  withoutTimers?: boolean;
};

/** Sequences below this belong to data from before the run. */
const SEQ_FROM = 1_000_000_000;

/** Returns a random-looking id of fixed length, like a real user id. SQL computes the same. */
export function userOf(n: number): string {
  return `u-${createHash('md5').update(String(n)).digest('hex').slice(0, 16)}`;
}
const USER_SQL = `'u-' || substr(md5(n::text), 1, 16)`;

/** Large writes use a connection of their own, opened from `url`. */
type Target = { db: Database; url: string };

export async function makePeople({ db, url }: Target, world: World): Promise<void> {
  const now = db.clock.now();
  for (const months of [3, 2, 1]) await ensurePartitions(db, now - months * 30 * 86_400_000);
  await ensurePartitions(db, now);
  const { projectId, people, lapsed, eventsOfEach } = world;
  await fillInSteps(url, { name: 'people', rows: people }, async (client, from, to) => {
    await client.query(PEOPLE, [projectId, lapsed, from, to]);
    await client.query(EMAILS, [projectId, from, to]);
  });
  for (const name of EVENT_NAMES)
    await fillInSteps(url, { name: `${name} events of people`, rows: people }, (client, from, to) =>
      client.query(HISTORY, [projectId, lapsed, from, to, name, eventsOfEach, new Date(now)]),
    );
  await db.query('UPDATE beckon.ingest_queue_state SET next_seq = $2 WHERE project_id = $1', [
    projectId,
    SEQ_FROM,
  ]);
}

const PEOPLE = `
  INSERT INTO beckon.person (project_id, external_user_id, name, plan, signup_date, company, role, traits, first_seen_at, last_seen_at)
  SELECT $1::bigint, ${USER_SQL}, 'Person ' || n, 'free', '2026-01-15', 'Company ' || n % 1000, CASE WHEN n % 20 = 0 THEN 'admin' ELSE 'member' END,
         jsonb_build_object('seats', 1 + n % 4, 'city', 'Bonn'), now() - interval '200 days', CASE WHEN n < $2::int THEN now() - interval '40 days' ELSE now() END
  FROM generate_series($3::int, $4::int - 1) AS n`;

const EMAILS = `
  INSERT INTO beckon.person_email (project_id, external_user_id, email, email_lower)
  SELECT $1::bigint, ${USER_SQL}, 'person' || n || '@example.com', 'person' || n || '@example.com' FROM generate_series($2::int, $3::int - 1) AS n`;

/** The k-th event of an active user is 1 to 5 days old for k = 1, then 7 days older each. It was received when it occurred. */
const HISTORY = `
  INSERT INTO beckon.event (project_id, received_at, id, external_user_id, name, properties, occurred_at, accepted_at, seq, suppressed)
  SELECT $1::bigint, at, gen_random_uuid(), ${USER_SQL}, $5::text, jsonb_build_object('feature', 'export', 'amount', 10), at, at, n, false
  FROM generate_series($3::int, $4::int - 1) AS n
  CROSS JOIN LATERAL (
    SELECT $7::timestamptz - CASE WHEN n < $2::int THEN interval '40 days' ELSE (k - 1) % 4 * interval '7 days' + interval '1 day' END
      - (n * 7919 + k * 104729) % 345600 * interval '1 second' AS at
    FROM generate_series(1, CASE WHEN n < $2::int THEN 1 ELSE $6::int END) AS k
  ) happened`;

/**
 * Creates audiences that are ready at once. The database selects their members by the same predicate in SQL. Every user has a timer in some
 * hours for each audience that time alone can change. Processing leaves timers that are too early as well; it replaces one only when it
 * fires, which none does during a benchmark.
 */
export async function serveAudiences(
  target: Target,
  world: World,
  definitions: Audience[],
): Promise<ServedAudience[]> {
  const { db } = target;
  await countEvents(target, world);
  const servedAudiences: ServedAudience[] = [];
  for (const audience of definitions) servedAudiences.push(await serveAudience(target, world, audience));
  await db.query('UPDATE beckon.project_lock SET model = model + 1 WHERE project_id = $1', [world.projectId]);
  await db.query(
    `UPDATE beckon.project_timer SET next_at = (SELECT min(at) FROM beckon.audience_timer WHERE project_id = $1) WHERE project_id = $1 AND work = 'process'`,
    [world.projectId],
  );
  return servedAudiences;
}

export type ServedAudience = { id: string; versionId: number };

async function countEvents({ db, url }: Target, { projectId, people }: World): Promise<void> {
  await db.query(
    `INSERT INTO beckon.counted_event (project_id, name, is_whole) SELECT $1::bigint, name, true FROM unnest($2::text[]) AS name ON CONFLICT DO NOTHING`,
    [projectId, [...EVENT_NAMES]],
  );
  await fillInSteps(url, { name: 'counts of events', rows: people }, (client, from, to) =>
    client.query(
      `INSERT INTO beckon.person_event (project_id, external_user_id, name, count, first_at, last_at)
       SELECT e.project_id, e.external_user_id, e.name, count(*), min(e.occurred_at), max(e.occurred_at)
       FROM generate_series($2::int, $3::int - 1) AS n JOIN beckon.event e ON e.project_id = $1 AND e.external_user_id = ${USER_SQL}
       GROUP BY 1, 2, 3 ON CONFLICT DO NOTHING`,
      [projectId, from, to],
    ),
  );
}

async function serveAudience(
  target: Target,
  world: World,
  { name, definition }: Audience,
): Promise<ServedAudience> {
  const { db, url } = target;
  const { projectId, people } = world;
  const parsed = parsePredicate(definition);
  if (!parsed.ok) throw new Error(`${name}: ${JSON.stringify(parsed.faults)}`);
  const { id } = await createAudience({ db, listRuleNeeds }, { projectId, name, definition });
  const [row] = await db.query<{ version_id: number }>(
    `SELECT version_id FROM beckon.audience_version WHERE project_id = $1 AND audience_id = $2`,
    [projectId, id],
  );
  const versionId = row?.version_id ?? 0;
  const names = [...EVENT_NAMES] as string[];
  const usesSentEvents = names.some((event) => JSON.stringify(definition).includes(`"${event}"`));
  const isTimed = !world.withoutTimers && usesSentEvents && JSON.stringify(definition).includes('"within"');
  const now = new Date(db.clock.now());
  await fillInSteps(url, { name: `members of ${name}`, rows: people }, async (client, from, to) => {
    await addMembers(client, { projectId, versionId, from, to, predicate: parsed.predicate, now });
    if (isTimed) await client.query(TIMERS, [projectId, versionId, from, to]);
  });
  await withClient(url, (client) => client.query(MARK_SERVED, [projectId, versionId, people]));
  return { id, versionId };
}

const MARK_SERVED = `
  UPDATE beckon.audience_version SET state = 'served', users = $3, built = $3,
    members = (SELECT count(*) FROM beckon.audience_member WHERE project_id = $1 AND version_id = $2)
  WHERE project_id = $1 AND version_id = $2`;

const TIMERS = `
  INSERT INTO beckon.audience_timer (project_id, external_user_id, version_id, at)
  SELECT $1::bigint, ${USER_SQL}, $2::bigint, now() + interval '6 hours' + n % 3600 * interval '1 second' FROM generate_series($3::int, $4::int - 1) AS n`;

type Slice = {
  projectId: number;
  versionId: number;
  from: number;
  to: number;
  predicate: Predicate;
  now: Date;
};

async function addMembers(client: pg.Client, slice: Slice): Promise<void> {
  const { projectId, versionId, from, to, predicate, now } = slice;
  const params = sqlParams([projectId, versionId, from, to, now]);
  const holds = predicateSql(predicate, { params, projectId: '$1', now: '$5', versionId: () => null });
  await client.query(
    `INSERT INTO beckon.audience_member (project_id, external_user_id, version_id, since)
     SELECT $1::bigint, p.external_user_id, $2::bigint, $5::timestamptz
     FROM generate_series($3::int, $4::int - 1) AS n JOIN beckon.person p ON p.project_id = $1 AND p.external_user_id = ${USER_SQL}
     WHERE ${holds}`,
    params.values,
  );
}

/** Adds users who do nothing: rows among all the others, in random order like all. */
export async function addInactiveUsers(
  { url }: Pick<Target, 'url'>,
  { projectId, from, count }: { projectId: number; from: number; count: number },
): Promise<void> {
  await fillInSteps(url, { name: 'people who do nothing', rows: count }, async (client, a, b) => {
    await client.query(PEOPLE, [projectId, 0, from + a, from + b]);
    await client.query(EMAILS, [projectId, from + a, from + b]);
  });
}

/** Adds events of users who are inactive now, spread over them and over the last 80 days, with their dedupe keys. */
export async function addHistory(
  { url }: Pick<Target, 'url'>,
  { projectId, from, people, events }: { projectId: number; from: number; people: number; events: number },
): Promise<void> {
  await fillInSteps(url, { name: 'old events', rows: events }, async (client, a, b) => {
    const slice = [projectId, a, b, from, people];
    await client.query(OLD_EVENTS, [...slice, [...EVENT_NAMES]]);
    await client.query(OLD_KEYS, slice.slice(0, 3));
  });
}

const OLD_EVENTS = `
  INSERT INTO beckon.event (project_id, received_at, id, external_user_id, name, properties, occurred_at, accepted_at, seq, suppressed)
  SELECT $1::bigint, at, gen_random_uuid(), 'u-' || substr(md5(($4::int + i % $5::int)::text), 1, 16), ($6::text[])[1 + i % 3],
         jsonb_build_object('feature', 'export', 'amount', 10), at, at, i, false
  FROM generate_series($2::int, $3::int - 1) AS i
  CROSS JOIN LATERAL (SELECT now() - i::bigint * 7919 % 6912000 * interval '1 second' AS at) happened`;

/** The hour of the event precedes the hash, as in `dedupeKey`. */
const OLD_KEYS = `
  INSERT INTO beckon.event_dedupe (project_id, dedupe_key)
  SELECT $1::bigint, decode('02' || lpad(to_hex((extract(epoch FROM now())::bigint - i::bigint * 7919 % 6912000) / 3600), 8, '0') || md5('old ' || i), 'hex')
  FROM generate_series($2::int, $3::int - 1) AS i ON CONFLICT DO NOTHING`;

/**
 * Updates the planner's statistics after bulk SQL and writes everything to disk. Empty tables are left out: after an
 * ANALYZE of an empty table the planner would assume that it stays empty.
 */
export async function settle(url: string): Promise<void> {
  await withClient(url, async (client) => {
    const { rows } = await client.query<{ tables: string | null }>(NON_EMPTY_TABLES);
    if (rows[0]?.tables) await client.query(`VACUUM (ANALYZE) ${rows[0].tables}`);
    await client.query('CHECKPOINT');
  });
}

const NON_EMPTY_TABLES = `
  SELECT string_agg(quote_ident(n.nspname) || '.' || quote_ident(c.relname), ', ') AS tables
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname IN ('beckon', 'bare') AND c.relkind = 'r' AND pg_relation_size(c.oid) > 0`;
