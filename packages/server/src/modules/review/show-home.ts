import { INGEST_QUEUE_MAX_RECORDS } from '@beckon/contract';
import { type SendServices, readSendingState } from '../delivery/index.ts';
import { ruleNames } from '../explain/index.ts';
import { findSmtpUrlRelay, listUnprovenRelays } from '../sending/index.ts';
import { countWaiting, listKeys } from '../ingest/index.ts';
import {
  countNeeds,
  type DraftNamed,
  findDueSoon,
  findFirstOpen,
  listDemoted,
  type Needs,
  NEEDS_COUNTED_MAX,
} from './needs.ts';
import { countDrafts, countReview, DRAFTS_COUNT_MAX, readDraftFilter } from './list-drafts.ts';
import { endOfDay } from './end-of-day.ts';
import { forecastFirst } from './show-schedule.ts';
import { listRules } from '../rules/index.ts';
import { findLastReceived, countDead, hasEmails } from './home-reads.ts';
import { type EndpointState, listFailingEndpoints } from '../webhooks/index.ts';
import { getSettings, type Settings } from '../workspace/index.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Tx } from '../../platform/db/statements.ts';
import type { RelayKinds } from '../../platform/relays/kinds.ts';
import { iso, isoOrNull } from '../../platform/time/clock.ts';
import { listSuppressions } from '../outcomes/index.ts';
import { listDomainFailures } from './domain-failures.ts';

type HomeDatabase = Pick<Database, 'query' | 'prepared' | 'clock'>;
export type HomeQuery = { projectId: number; sendServices: SendServices; relayKinds: RelayKinds };
export type BoundedCount = { count: number; at_least: boolean };

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Older failures are no longer shown. */
const FRESH_MS = 7 * DAY_MS;
/** From this share on the queue is shown as needing attention. */
const QUEUE_FULL_SHARE = 0.8;

/** Counts for the badges on every page. */
export async function countForBadges(db: HomeDatabase, projectId: number) {
  const now = db.clock.now();
  const [review, needs, dead] = await Promise.all([
    countReview(db, { projectId, filter: { terms: [] }, soon: now + HOUR_MS, tonight: now + DAY_MS }),
    countNeeds(db, { projectId, failedSince: now - FRESH_MS }),
    countDead(db, projectId, NEEDS_COUNTED_MAX + 1),
  ]);
  const { soon, today, later, noDeadline } = review;
  return {
    review: counted(soon + today + later + noDeadline, DRAFTS_COUNT_MAX),
    held: heldOf(needs),
    failed: counted(needs.failed + needs.unknown, NEEDS_COUNTED_MAX),
    dead_letters: counted(dead, NEEDS_COUNTED_MAX),
  };
}

/** Returns what a member needs first: open tasks, the health of the project, and the remaining setup steps. */
export async function showHome(db: HomeDatabase, { projectId, sendServices, relayKinds }: HomeQuery) {
  const now = db.clock.now();
  const { settings } = await getSettings(db, projectId);
  const waiting = await countWaiting(db, projectId);
  const sending = await readSendingState(db, { projectId, now, sendServices: sendServices });
  const lastEvent = await findLastReceived(db, projectId);
  const hasSent = await hasEmails(db, projectId);
  const queue = {
    waiting: waiting.live + waiting.bulk,
    waiting_max: INGEST_QUEUE_MAX_RECORDS,
    oldest_ms: waiting.oldest_ms,
  };
  const { sender } = sending;
  const { mailDomain } = sendServices.outlet;
  return {
    now: iso(now),
    time_zone: settings.timeZone,
    needs: await listNeeds(db, { projectId, now, settings, sender, queue, relayKinds, mailDomain }),
    health: {
      queue,
      last_event: lastEvent && { name: lastEvent.name, received_at: iso(lastEvent.receivedAt) },
      sender: { test_inbox: sender.test_inbox, problem: sender.problem },
      domain: sender.domain && {
        name: sender.domain.name,
        state: sender.domain.state,
        paused: sender.domain.paused,
      },
    },
    setup: await listSteps(db, { projectId, now, sending, hasEvent: lastEvent !== null, hasSent }),
    first_email: hasSent ? null : await findFirstEmail(db, { projectId, now, settings, sendServices }),
  };
}

type SendingState = Awaited<ReturnType<typeof readSendingState>>;
type NeedsQuery = {
  projectId: number;
  now: number;
  settings: Settings;
  sender: SendingState['sender'];
  queue: { waiting: number; waiting_max: number };
  relayKinds: RelayKinds;
  mailDomain: string | null;
};

async function listNeeds(tx: Tx, query: NeedsQuery) {
  const { projectId, now, settings, sender, queue } = query;
  const [ofDrafts, needs, dead, domains, endpoints, demoted, unproven] = await Promise.all([
    countDueToday(tx, query),
    countNeeds(tx, { projectId, failedSince: now - FRESH_MS }),
    countDead(tx, projectId, NEEDS_COUNTED_MAX + 1),
    listDomainFailures(tx, { projectId, since: 0, until: now }),
    listFailingEndpoints(tx, { projectId, since: 0, until: now }),
    listDemoted(tx, { projectId, since: now - FRESH_MS, until: now }),
    unprovenRelays(tx, query),
  ]);
  const { failed, unknown } = needs;
  const isFull = queue.waiting >= queue.waiting_max * QUEUE_FULL_SHARE;
  // A missing sender is reported only if it holds drafts; before that it is a setup step.
  const holdsEmails = needs.held.some(({ reason }) => reason === sender.problem?.reason);
  return [
    ...(settings.paused ? [{ kind: 'paused' as const }] : []),
    ...(sender.problem && holdsEmails ? [{ kind: 'sender' as const, ...sender.problem }] : []),
    ...ofDrafts,
    ...(needs.held.length > 0 ? [{ kind: 'held' as const, drafts: heldOf(needs), reasons: needs.held }] : []),
    ...(failed + unknown > 0
      ? [
          {
            kind: 'failed' as const,
            failed,
            unknown,
            at_least: failed + unknown > NEEDS_COUNTED_MAX,
            since: iso(now - FRESH_MS),
          },
        ]
      : []),
    ...domains.map((domain) => ({ kind: 'domain' as const, ...domain })),
    ...endpoints.map(endpointNeed),
    ...unproven.map((relay) => ({ kind: 'relay_unproven' as const, ...relay })),
    ...demoted.map((rule) => ({ kind: 'rule_demoted' as const, ...rule })),
    ...(dead > 0 ? [{ kind: 'dead_letters' as const, records: counted(dead, NEEDS_COUNTED_MAX) }] : []),
    ...(isFull ? [{ kind: 'queue' as const, waiting: queue.waiting, waiting_max: queue.waiting_max }] : []),
  ];
}

/** Lists the relays of a project whose bounces may be missed. `id` null: feedback of the provider in `SMTP_URL` was not added. */
async function unprovenRelays(
  tx: Tx,
  { projectId, sender, relayKinds, mailDomain }: NeedsQuery,
): Promise<{ id: string | null; name: string }[]> {
  const { unproven, usesSmtpUrl } = await listUnprovenRelays(tx, projectId);
  const provider = relayKinds.smtpUrlProvider;
  if (!provider || !usesSmtpUrl || sender.test_inbox) return unproven;
  const feedback = await findSmtpUrlRelay(tx);
  if (feedback) {
    const { id, name, feedbackProvenAt } = feedback;
    return feedbackProvenAt === null ? [...unproven, { id, name }] : unproven;
  }
  const arriveByEmail = provider.forwardsBounces === true && mailDomain !== null;
  return arriveByEmail ? unproven : [...unproven, { id: null, name: `SMTP_URL (${provider.title})` }];
}

/** Counts the drafts whose deadline is today, and at least those of the next hour. */
async function countDueToday(tx: Tx, { projectId, now, settings }: NeedsQuery) {
  const hour = now + HOUR_MS;
  const until = Math.max(hour, endOfDay(now, settings.timeZone));
  const first = await findDueSoon(tx, { projectId, until });
  if (!first) return [];
  const countBefore = (at: number): Promise<number> =>
    countDrafts(tx, { projectId, view: 'review', filter: readDraftFilter(dueBefore(at), settings.timeZone) });
  const [drafts, soon] = [await countBefore(until), await countBefore(hour)];
  const named = await toNamed(tx, projectId, first);
  return [
    {
      kind: 'due_today' as const,
      drafts: counted(drafts, DRAFTS_COUNT_MAX),
      soon: counted(soon, DRAFTS_COUNT_MAX),
      filter: dueBefore(until),
      first: { ...named, deadline_at: iso(first.deadlineAt ?? now) },
    },
  ];
}

/** The filter of Review that lists exactly the counted drafts. */
function dueBefore(at: number): string {
  return `state:scheduled deadline:<${iso(at)}`;
}

function endpointNeed({ endpoint, health }: EndpointState) {
  const { id, url, disabledReason } = endpoint;
  const problem = disabledReason === 'gone' || disabledReason === 'failing' ? disabledReason : 'warned';
  const since = isoOrNull(health.failingSince);
  return { kind: 'endpoint' as const, id, url, problem: problem as 'gone' | 'failing' | 'warned', since };
}

type StepsQuery = {
  projectId: number;
  now: number;
  sending: SendingState;
  hasEvent: boolean;
  hasSent: boolean;
};

type Step = { done: boolean; required: boolean };

async function listSteps(tx: Tx, { projectId, now, sending, hasEvent, hasSent }: StepsQuery) {
  const keys = await listKeys(tx, projectId);
  const rules = await listRules(tx, projectId);
  const step = <Id extends string>(id: Id, done: boolean, required = true): Step & { id: Id } => ({
    id,
    done,
    required,
  });
  const steps = [
    step('key_created', hasEvent || keys.some((key) => key.revoked_at === null)),
    step('first_event', hasEvent),
    step(
      'rule_on',
      rules.some(({ enabledAt }) => enabledAt !== null),
    ),
    step('first_email', hasSent),
    ...(sending.sender.test_inbox ? [] : await listRelaySteps(tx, { projectId, sending, hasSent })),
    step('team_invited', await hasTeammates(tx, projectId, now), false),
  ];
  return steps.every(({ done, required }) => done || !required) ? null : steps;
}

/** Lists the additional steps for real sending; with the test inbox none of them is required. */
async function listRelaySteps(
  tx: Tx,
  { projectId, sending, hasSent }: Pick<StepsQuery, 'projectId' | 'sending' | 'hasSent'>,
) {
  const isVerified = sending.domains.some(({ state }) => state === 'verified' || state === 'degraded');
  const hasSuppressions = (await listSuppressions(tx, { projectId, limit: 1 })).length > 0;
  return [
    { id: 'domain_verified' as const, done: isVerified, required: true },
    { id: 'sender_set' as const, done: sending.sender.problem?.reason !== 'no_sender', required: true },
    // Once emails have been sent, it is too late to import suppressions.
    { id: 'suppressions_imported' as const, done: hasSuppressions || hasSent, required: true },
  ];
}

type FirstEmailQuery = { projectId: number; now: number; settings: Settings; sendServices: SendServices };

/** Returns the first draft with its sending time if no member acts, and the reason why it waits. */
async function findFirstEmail(tx: Tx, query: FirstEmailQuery) {
  const first = await findFirstOpen(tx, query.projectId);
  if (!first) return null;
  const forecast = await forecastFirst(tx, query);
  const named = { ...(await toNamed(tx, query.projectId, first)), state: first.state };
  if (!forecast) {
    const time_zone = query.settings.timeZone;
    return { ...named, sends_at: null, reason: first.reason, quiet_until: null, time_zone };
  }
  const { forecast: fate, zone, quietUntil } = forecast;
  return {
    ...named,
    sends_at: fate.kind === 'sends' ? iso(fate.leavesAt) : null,
    reason: fate.kind === 'held' ? fate.reason : fate.after,
    quiet_until: isoOrNull(quietUntil),
    time_zone: zone,
  };
}

async function toNamed(tx: Tx, projectId: number, { id, subject, userId, ruleId }: DraftNamed) {
  const names = await ruleNames(tx, projectId);
  return { draft_id: id, subject, rule: names(ruleId), external_user_id: userId };
}

function heldOf({ held }: Needs): BoundedCount {
  return counted(
    held.reduce((sum, { drafts }) => sum + drafts, 0),
    NEEDS_COUNTED_MAX,
  );
}

function counted(count: number, max: number): BoundedCount {
  return { count: Math.min(count, max), at_least: count > max };
}

/**
 * Returns whether a project has more than one member or an open invitation. Reads tables of other modules, `team_member` and `team_link`.
 */
async function hasTeammates(tx: Tx, projectId: number, now: number): Promise<boolean> {
  const rows = await tx.query<{ more: boolean }>(
    `SELECT (SELECT count(*) FROM (SELECT FROM beckon.team_member m
               WHERE m.organization_id = p.organization_id LIMIT 2) m) > 1
            OR EXISTS (SELECT FROM beckon.team_link l
               WHERE l.organization_id = p.organization_id AND l.kind = 'invite' AND l.used_at IS NULL AND l.expires_at > $2) AS more
     FROM beckon.project p WHERE p.project_id = $1`,
    [projectId, new Date(now)],
  );
  return rows[0]?.more ?? false;
}
