/** Compares the final state of the product with that of the oracle. */

import { explainPerson } from '../../../src/modules/explain/explain.ts';
import type { Database } from '../../../src/platform/db/database.ts';
import { HOUR } from '../../factories/drafts.ts';
import { foresee } from './replay.ts';
import { gateNow, personOf, quietEnd, zoneOf } from './sending.ts';
import type { Oracle, OracleDraft } from './state.ts';
import { testSendServices } from '../../factories/send-services.ts';

type Played = { db: Database; projectId: number; oracle: Oracle };
type SubmittedEmail = { draftId: string; userId: string; address: string; at: number };

/** Reads the drafts of each run, in the order of their creation. A run is identified by the number of the event that began it. */
export async function readIds({ db, projectId }: Played, ids: Map<string, string[]>): Promise<void> {
  const rows = await db.query<{ id: string; user_id: string; rule: string; number: number }>(
    `SELECT d.id, d.external_user_id AS user_id, r.name AS rule, (u.anchor -> 'properties' ->> 'number')::int AS number
     FROM beckon.draft d JOIN beckon.rule r ON r.project_id = d.project_id AND r.id = d.rule_id
     JOIN beckon.run u ON u.project_id = d.project_id AND u.id = d.run_id
     WHERE d.project_id = $1 ORDER BY d.created_at, d.id`,
    [projectId],
  );
  ids.clear();
  for (const { id, user_id: userId, rule, number } of rows) {
    const key = JSON.stringify([userId, rule, `#${number}`]);
    ids.set(key, [...(ids.get(key) ?? []), id]);
  }
}

/** A trial is identified by its event, which the oracle identifies by the number that was sent with it. */
function keyOf(table: string): string {
  return `coalesce('#' || (e.properties ->> 'number'), ${table}.key)`;
}

function eventOf(table: string): string {
  return `LEFT JOIN beckon.event e ON e.project_id = ${table}.project_id AND e.external_user_id = ${table}.external_user_id
            AND e.name = 'trial_started' AND e.id::text = ${table}.key`;
}

export async function compareWith(played: Played, emails: SubmittedEmail[]): Promise<string[]> {
  const { oracle } = played;
  return [
    ...different('decisions', await decisionCountsOf(played), oracleDecisionCounts(oracle)),
    ...different('runs', await runsOf(played), runsOfOracle(oracle)),
    ...different('drafts', await draftsOf(played), draftsOfOracle(oracle)),
    ...different('emails', emailsOf(emails), emailsOfOracle(oracle)),
    ...forbidden(oracle, emails),
  ];
}

function different(what: string, product: string[], oracle: string[]): string[] {
  const [ours, theirs] = [countsOf(product), countsOf(oracle)];
  return [...new Set([...ours.keys(), ...theirs.keys()])].toSorted().flatMap((line) => {
    const [productCount, oracleCount] = [ours.get(line) ?? 0, theirs.get(line) ?? 0];
    if (productCount === oracleCount) return [];
    return [
      `${what}: ${productCount > oracleCount ? 'only the product has' : 'only the oracle has'} ${line}`,
    ];
  });
}

function countsOf(lines: string[]): Map<string, number> {
  return new Map([...Map.groupBy(lines, (line) => line)].map(([line, group]) => [line, group.length]));
}

function iso(ms: number | null | undefined): string | null {
  return ms === null || ms === undefined || ms === Infinity ? null : new Date(ms).toISOString();
}

async function decisionCountsOf({ db, projectId }: Played): Promise<string[]> {
  const rows = await db.query<{
    user_id: string;
    rule: string;
    key: string;
    reason: string;
    count: number;
    first_at: Date;
    last_at: Date;
  }>(
    `SELECT d.external_user_id AS user_id, r.name AS rule, ${keyOf('d')} AS key, d.reason, d.count, d.first_at, d.last_at
     FROM beckon.decision d JOIN beckon.rule r ON r.project_id = d.project_id AND r.id = d.rule_id ${eventOf('d')}
     WHERE d.project_id = $1`,
    [projectId],
  );
  return rows.map(({ user_id: userId, rule, key, reason, count, first_at: first, last_at: last }) =>
    [JSON.stringify([userId, rule, key, reason]), count, first.toISOString(), last.toISOString()].join(' '),
  );
}

function oracleDecisionCounts({ decisionCounts }: Oracle, of?: string): string[] {
  const rows = [...decisionCounts].filter(
    ([key]) => of === undefined || key.startsWith(JSON.stringify([of]).slice(0, -1)),
  );
  return rows.map(([key, { count, first, last }]) => [key, count, iso(first), iso(last)].join(' '));
}

async function runsOf({ db, projectId }: Played): Promise<string[]> {
  const rows = await db.query<{
    user_id: string;
    rule: string;
    key: string;
    end_reason: string | null;
    enrolled_at: Date;
    ends_at: Date | null;
    converted_at: Date | null;
  }>(
    `SELECT u.external_user_id AS user_id, r.name AS rule, ${keyOf('u')} AS key, u.end_reason, u.enrolled_at, u.ends_at, u.converted_at
     FROM beckon.run u JOIN beckon.rule r ON r.project_id = u.project_id AND r.id = u.rule_id ${eventOf('u')}
     WHERE u.project_id = $1`,
    [projectId],
  );
  return rows.map((row) =>
    JSON.stringify([
      row.user_id,
      row.rule,
      row.key,
      row.end_reason,
      row.enrolled_at,
      row.ends_at,
      row.converted_at,
    ]),
  );
}

function runsOfOracle({ runs }: Oracle): string[] {
  return runs.map(({ userId, rule, key, end, enrolledAt, endsAt, convertedAt }) =>
    JSON.stringify([userId, rule.name, key, end, iso(enrolledAt), iso(endsAt), iso(convertedAt)]),
  );
}

async function draftsOf({ db, projectId }: Played): Promise<string[]> {
  const rows = await db.query<{
    id: string;
    state: string;
    resume_state: string | null;
    reason: string | null;
    deadline_at: Date | null;
    due_at: Date | null;
    expires_at: Date | null;
  }>(
    `SELECT id, state, resume_state, reason, deadline_at, due_at, expires_at FROM beckon.draft WHERE project_id = $1`,
    [projectId],
  );
  return rows.map(({ id, state, resume_state: resume, reason, ...at }) => {
    const stands =
      state === 'held' ? `held ${reason} ${resume}` : state === 'canceled' ? `canceled ${reason}` : state;
    return JSON.stringify([id, stands, at.deadline_at, at.due_at, at.expires_at]);
  });
}

function draftsOfOracle(oracle: Oracle): string[] {
  return oracle.drafts.map((draft) => {
    const stands = draft.end ?? (draft.state === 'held' ? `held ${draft.held} ${draft.resume}` : draft.state);
    return JSON.stringify([
      oracle.idOf(draft),
      stands,
      iso(draft.deadline),
      iso(draft.due),
      iso(draft.expires),
    ]);
  });
}

function emailsOf(emails: SubmittedEmail[]): string[] {
  return emails.map(({ draftId, userId, address, at }) =>
    JSON.stringify([draftId, userId, address, iso(at)]),
  );
}

function emailsOfOracle(oracle: Oracle): string[] {
  return oracle.claims.map(({ draft, address, at }) =>
    JSON.stringify([oracle.idOf(draft), draft.run.userId, address, iso(at)]),
  );
}

/** Compares the explanation for a user: the decisions, the timers, and what holds the open drafts. */
export async function compareExplained(played: Played, userId: string): Promise<string[]> {
  const { db, projectId, oracle } = played;
  if (!oracle.people.has(userId)) return [];
  const rows = await explainPerson(
    { db, sendServices: testSendServices() },
    { projectId, userId: userId, rule: null },
  );
  const numbers = await db.query<{ id: string; number: number }>(
    `SELECT id, (properties ->> 'number')::int AS number FROM beckon.event
     WHERE project_id = $1 AND external_user_id = $2 AND name = 'trial_started'`,
    [projectId, userId],
  );
  const keys = new Map(numbers.map(({ id, number }) => [id, `#${number}`]));
  const decisions = rows.flatMap(({ rule, key, reason, count, first_at: first, at }) =>
    count > 0
      ? [[JSON.stringify([userId, rule, keys.get(key ?? '') ?? key, reason]), count, first, at].join(' ')]
      : [],
  );
  const triggers = rows.flatMap(({ rule, now }) =>
    (now?.triggers ?? []).flatMap(({ is_set: isSet, at, reason }) =>
      isSet ? [`${rule} ${at} ${reason}`] : [],
    ),
  );
  const open = rows.flatMap(({ drafts }) => drafts).filter((draft) => draft.ended_at === null);
  return [
    ...different('explained decisions', decisions, oracleDecisionCounts(oracle, userId)),
    ...different('explained timers', triggers, timersOfOracle(oracle, userId)),
    ...different(
      'explained drafts',
      open.map(({ id, rule_holds: holds, send_check: no }) => [id, holds, no?.reason, no?.until].join(' ')),
      gatesOfOracle(oracle, userId),
    ),
  ];
}

function timersOfOracle(oracle: Oracle, userId: string): string[] {
  return oracle.timers
    .filter((timer) => timer.userId === userId)
    .map((timer) => `${timer.rule.name} ${iso(timer.at)} ${foresee(oracle, timer)}`);
}

function gatesOfOracle(oracle: Oracle, userId: string): string[] {
  return oracle.drafts
    .filter((draft) => draft.run.userId === userId && draft.end === null)
    .map((draft) => {
      const no = gateNow(oracle, draft);
      const holds = draft.run.rule.onlyIf(personOf(oracle, userId));
      return [oracle.idOf(draft), holds, no?.reason, iso(no?.until) ?? undefined].join(' ');
    });
}

/** Finds violations of absolute rules in the submitted emails, whatever the oracle would have done. */
function forbidden(oracle: Oracle, emails: SubmittedEmail[]): string[] {
  const drafts = new Map(oracle.drafts.map((draft) => [oracle.idOf(draft), draft]));
  const times = countsOf(emails.map(({ draftId }) => draftId));
  return [
    ...[...times].filter(([, count]) => count > 1).map(([id]) => `the draft ${id} left twice`),
    ...emails.flatMap((email) => forbiddenOf(email, drafts.get(email.draftId))),
    ...beyondCaps(emails, drafts),
  ];
}

function forbiddenOf(email: SubmittedEmail, draft: OracleDraft | undefined): string[] {
  if (!draft) return [`the draft ${email.draftId} was sent but is unknown`];
  const label = `${draft.run.rule.name} to ${email.userId} at ${iso(email.at)}`;
  const end = draft.run.endsAt;
  return [
    ...(draft.end === 'skipped' ? [`${label} had been skipped`] : []),
    ...(end !== null && email.at >= end ? [`${label} came after the end at ${iso(end)}`] : []),
  ];
}

/** Emails that the transport refused do not count. */
function beyondCaps(emails: SubmittedEmail[], drafts: Map<string, OracleDraft>): string[] {
  const counted = emails.filter(({ draftId }) => {
    const draft = drafts.get(draftId);
    return draft?.run.rule.counts && draft.end !== 'failed';
  });
  return [...Map.groupBy(counted, ({ address }) => address)].flatMap(([address, group]) =>
    [
      { emails: 1, ms: 24 * HOUR },
      { emails: 3, ms: 7 * 24 * HOUR },
    ].flatMap(({ emails: most, ms }) =>
      group
        .filter(({ at }) => group.filter((other) => other.at <= at && other.at > at - ms).length > most)
        .map(({ at }) => `more than ${most} emails to ${address} in ${ms / HOUR} hours before ${iso(at)}`),
    ),
  );
}

/** Checks during submission whether the email may be sent at this moment. `zone` is the time zone that the user's server sent last. */
export function forbiddenNow(
  oracle: Oracle,
  { userId, address, at }: SubmittedEmail,
  zone: unknown,
): string[] {
  const isQuiet = quietEnd(at, zoneOf({ traits: { timezone: zone } })) !== null;
  const isSuppressed = oracle.suppressions.some(
    ({ kind, value, until }) => value === (kind === 'user' ? userId : address) && (until ?? Infinity) > at,
  );
  return [
    ...(isQuiet ? [`an email was sent to ${userId} during quiet hours, at ${iso(at)}`] : []),
    ...(isSuppressed ? [`an email was sent to ${userId}, who was suppressed, at ${iso(at)}`] : []),
    ...(oracle.isPaused ? [`an email was sent at ${iso(at)}, while the project was paused`] : []),
  ];
}
