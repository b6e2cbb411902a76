import type { DraftContent } from '../../../packages/server/src/modules/drafts/draft.ts';
import { findShippedEmail } from '../../../packages/server/src/modules/rendering/shipped.ts';
import { renderContent } from '../../../packages/server/src/modules/rendering/render.ts';
import { createRule } from '../../../packages/server/src/modules/rules/write-rule.ts';
import { setSettings } from '../../../packages/server/src/modules/administration/set-settings.ts';
import type { Database } from '../../../packages/server/src/platform/db/database.ts';
import { pause } from '../processing/visible.ts';
import { fillInSteps } from '../fill.ts';
import type { Testbed } from '../testbed.ts';
import { addInactiveUsers, makePeople } from '../world.ts';

/**
 * A project with emails that fall due, created by bulk SQL as processing would have left them. Each is a draft with its first move, the run
 * that waits for it, and the row of the decision log for the fired rule.
 *
 * There are five rules of one email each. Two of them have a condition that is checked again before sending (a trait; an event that did not
 * come for 7 days). Each rule made its drafts in the order in which they fall due, so the next due drafts are in five places of the table.
 * No user gets two of them. Every second user got an email three days ago, which the default caps (1/24h,3/7d) find and allow.
 */
export type World = {
  projectId: number;
  url: string;
  ruleIds: string[];
  nextPerson: number;
  /** An email other than the shipped one, with `NAME` in place of the name. `facts` are the other facts that it reads of every user. */
  email?: { content: DraftContent; facts: Record<string, unknown> };
};

const CONDITIONS = [
  null,
  null,
  null,
  { trait: 'plan', equals: 'free' },
  { not: { event: 'feature_used', within: '7d' } },
];
const EMAIL = 'welcome';

export async function openWorld(testbed: Testbed, { people }: { people: number }): Promise<World> {
  const { db, url } = testbed;
  const { id: projectId } = await testbed.project();
  await setSettings(db, projectId, { quiet_hours: 'off', throttle: 'off' });
  await makePeople(testbed, { projectId, people: 0, lapsed: 0, eventsOfEach: 0 });
  await addInactiveUsers(testbed, { projectId, from: 0, count: people });
  const ruleIds: string[] = [];
  for (const [i, condition] of CONDITIONS.entries()) {
    const document = {
      name: `email_${i}`,
      when: { event: `something_${i}` },
      ...(condition && { only_if: condition }),
      steps: [{ draft: EMAIL }],
    };
    ruleIds.push((await createRule(db, { projectId, document })).id);
  }
  await inSteps(url, {
    name: 'earlier emails',
    count: people,
    text: EARLIER,
    values: [projectId, ruleIds[0]],
  });
  return { projectId, url, ruleIds, nextPerson: 0 };
}

const EARLIER = `
  INSERT INTO beckon.email (project_id, draft_id, id, rule_id, external_user_id, address, state, counts, claimed_at, ended_at)
  SELECT $3::bigint, uuidv7(), uuidv7(), $4::uuid, 'u-' || substr(md5(n::text), 1, 16), 'person' || n || '@example.com', 'sent', true, at, at
  FROM generate_series($1::int, $2::int - 1) AS n CROSS JOIN (SELECT now() - interval '3 days' AS at) was WHERE n % 2 = 0`;

export type Wave = { count: number; firstAt: number; overMs: number };

/** Writes drafts for users without one. No sender looks for them before the alarm is set: see `ring`. */
export async function writeDrafts(world: World, { count, firstAt, overMs }: Wave): Promise<void> {
  const { projectId, url, ruleIds, nextPerson } = world;
  world.nextPerson += count;
  const { content, facts } = world.email ?? { content: emailText(), facts: {} };
  const { subject, preheader, body } = content;
  const values = [projectId, ruleIds, nextPerson, Math.ceil(count / ruleIds.length), new Date(firstAt)];
  const texts = [overMs / count, subject, preheader, body, JSON.stringify(facts)];
  await inSteps(url, { name: 'drafts', count, text: DRAFTS, values: [...values, ...texts] });
}

export const NAME = 'NAME';

/** Renders the email once, with a placeholder for the name. */
function emailText(): DraftContent {
  const email = findShippedEmail(EMAIL);
  if (!email) throw new Error(`there is no shipped email ${EMAIL}`);
  return renderContent(email, {
    person: { name: NAME },
    event: { name: 'something' },
    project: { name: 'bench' },
    run: { ends_at: null },
    zone: 'UTC',
    locale: 'en',
  }).content;
}

const DRAFTS = `
  WITH made AS MATERIALIZED (
    SELECT uuidv7() AS draft_id, uuidv7() AS run_id, r.rule_id, 'u-' || substr(md5(($5::int + n)::text), 1, 16) AS user_id,
           'Person ' || ($5::int + n) AS name, w.at, w.at - interval '2 hours' AS made_at
    FROM generate_series($1::int, $2::int - 1) AS n
    CROSS JOIN LATERAL (SELECT n / $6::int AS rule, n % $6::int AS nth) o
    CROSS JOIN LATERAL (SELECT ($4::uuid[])[1 + o.rule] AS rule_id) r
    CROSS JOIN LATERAL (SELECT $7::timestamptz + (o.nth * cardinality($4::uuid[]) + o.rule) * $8::float8 * interval '1 millisecond' AS at) w
  ), runs AS (
    INSERT INTO beckon.run (project_id, id, rule_id, version, external_user_id, key, state, variant, single, step, waits_for, anchor, enrolled_at)
    SELECT $3::bigint, run_id, rule_id, 1, user_id, '', 'active', 'treatment', false, 0, 'draft',
           jsonb_build_object('kind', 'event', 'id', run_id, 'name', 'something', 'properties', '{}'::jsonb,
             'occurredAt', 0, 'acceptedAt', 0, 'seq', 1), made_at FROM made
  ), moves AS (
    INSERT INTO beckon.draft_move (project_id, draft_id, number, at, action, to_state, actor, content_hash, detail)
    SELECT $3::bigint, draft_id, 1, made_at, 'schedule', 'scheduled', 'engine', encode(sha256(name::bytea), 'hex'), '{}' FROM made
  ), fired AS (
    INSERT INTO beckon.decision (project_id, external_user_id, rule_id, key, reason, count, first_at, last_at, detail)
    SELECT $3::bigint, user_id, rule_id, '', 'fired', 1, made_at, made_at, jsonb_build_object('run_id', run_id) FROM made
  )
  INSERT INTO beckon.draft (project_id, id, rule_id, version, run_id, step, external_user_id, key, state, subject, preheader, body, format,
    content_hash, is_edited, facts, priority, counts, autopilot_ms, deadline_at, due_at, expires_at, moves, created_at, updated_at)
  SELECT $3::bigint, draft_id, rule_id, 1, run_id, 0, user_id, '', 'scheduled', $9::text, $10::text, replace($11::text, '${NAME}', name), 'markdown',
    encode(sha256(name::bytea), 'hex'), false, jsonb_build_object('user.name', name) || $12::jsonb, 50, true, 7200000, at, at,
    at + interval '72 hours', 1, made_at, made_at FROM made`;

/** Writes drafts of users that are never read, because none is due within weeks. Neither these users nor their runs exist. */
export function writeWaitingDrafts({ projectId, url, ruleIds }: World, count: number): Promise<void> {
  const { subject, preheader, body } = emailText();
  return inSteps(url, {
    name: 'drafts due in weeks',
    count,
    text: WAITING,
    values: [projectId, ruleIds, subject, preheader, body],
  });
}

const WAITING = `
  INSERT INTO beckon.draft (project_id, id, rule_id, version, step, external_user_id, key, state, subject, preheader, body, format,
    content_hash, is_edited, facts, priority, counts, autopilot_ms, deadline_at, due_at, expires_at, moves, created_at, updated_at)
  SELECT $3::bigint, uuidv7(), ($4::uuid[])[1 + n % cardinality($4::uuid[])], 1, 0, 'w-' || substr(md5(n::text), 1, 16), '', 'scheduled',
    $5::text, $6::text, $7::text, 'markdown', encode(sha256(n::text::bytea), 'hex'), false, '{}', 50, true, 2592000000, at, at,
    at + interval '72 hours', 1, now(), now()
  FROM generate_series($1::int, $2::int - 1) AS n
  CROSS JOIN LATERAL (SELECT now() + interval '10 days' + n::bigint * 7919 % 1728000 * interval '1 second' AS at) due`;

/** Sets the alarm of the sender unless it is set to an earlier moment. */
export async function ring(db: Database, projectId: number, at: number): Promise<void> {
  await db.query(
    `UPDATE beckon.project_timer SET next_at = least(next_at, $2::timestamptz) WHERE project_id = $1 AND work = 'send'`,
    [projectId, new Date(at)],
  );
}

const POLL_MS = 25;
const GIVE_UP_MS = 300_000;
/** The sender may delay its alarm a little, to claim everything that is due by then together. */
const MARGIN_MS = 10_000;

/** Waits until no draft is due by `until` and the result of every email is written. Reading the alarm costs little. */
export async function allSent(db: Database, projectId: number, until: number): Promise<void> {
  const giveUpAt = performance.now() + (until - Date.now()) + GIVE_UP_MS;
  while (!(await isSent(db, projectId, until))) {
    if (performance.now() > giveUpAt) throw new Error('drafts that are due still wait');
    await pause(POLL_MS);
  }
}

async function isSent(db: Database, projectId: number, until: number): Promise<boolean> {
  const rows = await db.query<{ done: boolean }>(
    `SELECT (next_at IS NULL OR next_at > $2) AND NOT EXISTS (SELECT FROM beckon.email WHERE next_at IS NOT NULL) AS done
     FROM beckon.project_timer WHERE project_id = $1 AND work = 'send'`,
    [projectId, new Date(until + MARGIN_MS)],
  );
  return rows[0]?.done ?? false;
}

/** Runs a statement in steps. `$1` and `$2` are the bounds of a step; `values` follow them. */
function inSteps(
  url: string,
  { name, count, text, values }: { name: string; count: number; text: string; values: unknown[] },
): Promise<void> {
  return fillInSteps(url, { name, rows: count }, (client, from, to) =>
    client.query(text, [from, to, ...values]),
  );
}
