import { iso } from '../../platform/time/clock.ts';
import { type DomainFailure, listDomainFailures } from './domain-failures.ts';
import { type EndpointState, listFailingEndpoints } from '../webhooks/index.ts';
import { listSettings } from '../workspace/index.ts';
import { type DemotedRule, listDemoted } from './needs.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Tx } from '../../platform/db/statements.ts';
import type { TeamTransport, TeamEmail } from '../delivery/index.ts';
import type { JobRun } from '../../platform/jobs/scheduler.ts';
import type { Log } from '../../platform/log.ts';
import { listProjectsWithNews, listWaiting } from './digest-reads.ts';
import { setTeamReportedUntil } from './digest-store.ts';
import { takeTeamDigest, teamDigest } from './team-digest.ts';

type TeamDigestsOptions = {
  db: Pick<Database, 'query' | 'prepared' | 'transaction' | 'clock'>;
  log: Log;
  publicUrl: string;
  teamTransport: TeamTransport;
};

const PROJECTS_AT_ONCE = 500;

/** Notifies teams of waiting drafts. A digest that could not be sent is included in the next one. */
export async function sendTeamDigests(
  { db, log, publicUrl, teamTransport }: TeamDigestsOptions,
  { stopping }: JobRun,
): Promise<void> {
  const submit: TeamTransport['submit'] = (projectId, email) => teamTransport.submit(projectId, email);

  async function notifyTeam(projectId: number): Promise<void> {
    try {
      if (await sendTeamDigest(db, { projectId, publicUrl, submit }))
        log.info({ project_id: projectId }, 'team_digest.sent');
    } catch (error) {
      log.warn({ project_id: projectId, err: error }, 'team_digest.not_sent');
    }
  }

  for (let after: number | null = 0; after !== null && !stopping.aborted;) {
    const now = db.clock.now();
    const projects: number[] = await listProjectsWithNews(db, { now, after, limit: PROJECTS_AT_ONCE });
    for (const projectId of projects) if (!stopping.aborted) await notifyTeam(projectId);
    after = projects.length < PROJECTS_AT_ONCE ? null : (projects.at(-1) ?? null);
  }
}

export type TeamDigestOptions = {
  projectId: number;
  /** The address of the dashboard. */
  publicUrl: string;
  submit: TeamTransport['submit'];
};

/**
 * The maximum time between dating and committing a change. Newer changes are reported the next time. Otherwise a change dated before a
 * notification and committed after it would never be reported.
 */
export const SETTLED_MS = 15_000;

/**
 * Notifies the team of open tasks, if something is new and the last notification is old enough; returns true if it did. The claim is
 * committed before the email is submitted, so that only one of two processes sends it. The record that the team was notified is committed
 * afterwards: what could not be submitted is part of the next notification.
 */
export async function sendTeamDigest(
  db: Pick<Database, 'transaction' | 'clock'>,
  options: TeamDigestOptions,
): Promise<boolean> {
  const { projectId, submit } = options;
  const now = db.clock.now();
  const email = await db.transaction((tx) => takeEmail(tx, options, now));
  if (!email) return false;
  await submit(projectId, email);
  await db.transaction((tx) => setTeamReportedUntil(tx, projectId, now - SETTLED_MS));
  return true;
}

function sentenceOf({ name, state, paused }: DomainFailure): string {
  if (paused !== null) return `${name} is paused, and its emails are held until you resume it: ${paused}`;
  return state === 'failed'
    ? `The DNS records of ${name} are missing. Its emails are held until the records are back`
    : `The last DNS check of ${name} failed. If this continues, its emails will be held`;
}

function demotedWords({ name, why }: DemotedRule): string {
  return `Autopilot is off for the rule ${name}, because of ${why}. Its drafts wait for approval`;
}

function endpointWords({ endpoint: { url, disabledReason }, health }: EndpointState): string {
  if (disabledReason === 'gone')
    return `The endpoint ${url} responded with 410 Gone. It gets no webhooks until you enable it`;
  if (disabledReason === 'failing')
    return `The endpoint ${url} accepted no webhook for 5 days and was disabled. It gets no webhooks until you enable it`;
  const since = health.failingSince === null ? '' : ` since ${iso(health.failingSince)}`;
  return `The endpoint ${url} has accepted no webhook${since}. It is disabled after 5 days of failures`;
}

async function takeEmail(
  tx: Tx,
  { projectId, publicUrl }: TeamDigestOptions,
  now: number,
): Promise<TeamEmail | null> {
  const { sentAt, reportedUntil: heardAt } = await findTeamDigestTimes(tx, projectId);
  const project = (await listSettings(tx, [projectId])).get(projectId);
  if (!project) return null;
  const { name, settings } = project;
  const news = { projectId, since: heardAt ?? 0, until: now - SETTLED_MS };
  const rules = await listWaiting(tx, news);
  const domains = await listDomainFailures(tx, news);
  const demoted = await listDemoted(tx, news);
  const endpoints = await listFailingEndpoints(tx, news);
  const notices = [...demoted.map(demotedWords), ...domains.map(sentenceOf), ...endpoints.map(endpointWords)];
  const projectUrl = new URL(`/p/${projectId}`, publicUrl).href;
  const waiting = { project: name, rules, projectUrl, notices, timeZone: settings.timeZone };
  const email = teamDigest(waiting, now, sentAt);
  return email && (await takeTeamDigest(tx, projectId, now)) ? email : null;
}

type TeamDigestTimes = { sentAt: number | null; reportedUntil: number | null };

/** Returns when a process last claimed the notification of the team, and up to when the team is informed, in milliseconds. */
export async function findTeamDigestTimes(tx: Tx, projectId: number): Promise<TeamDigestTimes> {
  const [row] = await tx.query<{ sent_at: Date; reported_until: Date | null }>(
    `SELECT sent_at, reported_until FROM beckon.team_digest WHERE project_id = $1`,
    [projectId],
  );
  return { sentAt: row?.sent_at.getTime() ?? null, reportedUntil: row?.reported_until?.getTime() ?? null };
}
