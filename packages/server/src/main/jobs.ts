import { deleteOldVersions } from '../modules/audiences/index.ts';
import { AI_DRAFTS_DUE } from '../modules/drafts/index.ts';
import type { TeamTransport } from '../modules/delivery/index.ts';
import { forgetImports } from '../modules/imports/index.ts';
import {
  deleteOldRelayEvents,
  feedbackPuller,
  forwardReplies,
  HITS_DUE,
  readDueMailboxes,
  type MailReader,
  settleDueHits,
} from '../modules/inbound/index.ts';
import { deleteExpiredKeys } from '../modules/ingest/index.ts';
import { historyDeleter, secretReencrypter } from '../modules/operations/index.ts';
import { pruneMarks, repairTimers } from '../modules/processing/index.ts';
import { sendTeamDigests, deleteOldMail } from '../modules/review/index.ts';
import { deleteOldDecisions } from '../modules/rules/index.ts';
import { checkDueDomains, checkTrackingHosts } from '../modules/sending/index.ts';
import { aiDraftWriter } from '../modules/templates/index.ts';
import { partitionKeeper } from '../modules/users/index.ts';
import { createFairQueue } from '../platform/async/fair-queue.ts';
import type { Database } from '../platform/db/database.ts';
import { idMaker } from '../platform/ids.ts';
import type { Job } from '../platform/jobs/scheduler.ts';
import type { Relay } from '../platform/mail/submit.ts';
import type { Outbound } from '../platform/outbound/outbound.ts';
import { relayHosts } from './open-transport.ts';
import type { ServerOptions } from './options.ts';

type JobOptions = Pick<ServerOptions, 'log' | 'resolver' | 'mail' | 'encrypter' | 'model' | 'sendServices'> &
  Pick<ServerOptions, 'mailFrom' | 'tokenKeys' | 'teamSecrets' | 'relayKinds' | 'restoreGuard'> &
  Pick<ServerOptions, 'lookUp' | 'webhooks'> & {
    listen: { publicUrl: string };
  };

type JobDeps = {
  db: Database;
  outbound: Outbound;
  teamTransport: TeamTransport;
  /** Reads inbound email. */
  readMail: MailReader;
  /** Null if the server was started with a transport of its own, as in tests. Replies are then not forwarded. */
  relay: Pick<Relay, 'submit'> | null;
};

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/**
 * Returns all periodic jobs, which docs/reference/metrics.md describes. Every worker runs them, and two may run one at the same time without
 * harm.
 */
export function jobTable(
  options: JobOptions,
  { db, outbound, relay, teamTransport, readMail }: JobDeps,
): Job[] {
  const { listen, sendServices, model = null } = options;
  const newId = idMaker(db.clock);
  const { renderer } = sendServices;
  const deps = {
    ...options,
    db,
    newId,
    outbound,
    teamTransport,
    renderer,
    model,
    publicUrl: listen.publicUrl,
    projectQueue: createFairQueue({ atOncePerKey: 1 }),
    mailDomain: options.mail.mailDomain,
    read: readMail,
    resolveHostOf: relayHosts(options),
  };
  const jobs: Job[] = [
    { name: 'check_domains', everyMs: 20 * SECOND, run: (run) => checkDueDomains(deps, run) },
    { name: 'check_tracking_hosts', everyMs: 20 * SECOND, run: (run) => checkTrackingHosts(deps, run) },
    { name: 'classify_hits', everyMs: SECOND, work: HITS_DUE, run: (run) => settleDueHits(deps, run) },
    { name: 'clear_test_inbox', everyMs: HOUR, run: (run) => deleteOldMail(deps, run) },
    { name: 'create_partitions', everyMs: 5 * SECOND, run: partitionKeeper(db) },
    {
      name: 'delete_audience_definitions',
      everyMs: 10 * SECOND,
      run: (run) => deleteOldVersions(db, run),
    },
    { name: 'delete_decisions', everyMs: HOUR, run: (run) => deleteOldDecisions(deps, run) },
    { name: 'delete_history', everyMs: MINUTE, run: historyDeleter(db) },
    { name: 'delete_idempotency_keys', everyMs: MINUTE, run: (run) => deleteExpiredKeys(db, run) },
    { name: 'delete_import_files', everyMs: 10 * MINUTE, run: (run) => forgetImports(deps, run) },
    { name: 'delete_processing_marks', everyMs: 30 * SECOND, run: (run) => pruneMarks(db, run) },
    { name: 'reencrypt_secrets', everyMs: 20 * SECOND, run: secretReencrypter(deps) },
    { name: 'delete_relay_events', everyMs: HOUR, run: (run) => deleteOldRelayEvents(deps, run) },
    { name: 'pull_relay_feedback', everyMs: 30 * SECOND, run: feedbackPuller(deps) },
    { name: 'read_reply_mailboxes', everyMs: 10 * SECOND, run: (run) => readDueMailboxes(deps, run) },
    { name: 'repair_alarms', everyMs: 30 * SECOND, run: () => repairTimers(deps) },
    { name: 'send_team_digests', everyMs: 30 * SECOND, run: (run) => sendTeamDigests(deps, run) },
    { name: 'write_ai_drafts', everyMs: 2 * SECOND, work: AI_DRAFTS_DUE, run: aiDraftWriter(deps) },
  ];
  if (!relay) return jobs;
  const run: Job['run'] = (jobRun) => forwardReplies({ ...deps, relay }, jobRun);
  return [...jobs, { name: 'forward_replies', everyMs: 10 * SECOND, run }];
}
