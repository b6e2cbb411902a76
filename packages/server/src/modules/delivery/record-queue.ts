import { type Coalesced, coalesce } from '../../platform/async/coalesce.ts';
import type { Log } from '../../platform/log.ts';
import { recentMap } from '../../platform/async/recent-map.ts';
import type { RelayRef } from '../sending/index.ts';
import { type RecordingDeps, recordResults, type RelayFailure } from './record-results.ts';
import { hardBounceReply } from './apply-refusals.ts';
import { createRelayReplies, type RelayReplies } from './relay-notices.ts';
import type { EmailResult, Transport } from './transport.ts';

/** `transportOf`: null is the relay of `SMTP_URL`. */
type RecordQueueOptions = RecordingDeps & { log: Log; transportOf: (relay: RelayRef | null) => Transport };
/** The replies of each relay. They say nothing about the other relays. */
type Recording = RecordQueueOptions & { repliesOf: (relay: RelayRef | null) => RelayReplies };

const ROUND_MAX = 100;
const COMMIT_WITHIN_MS = 30_000;
const RECORD_AGAIN_MS = [100, 500, 2_000, 5_000, 15_000, 30_000];
const RELAYS_REMEMBERED = 1_000;
/** The pause for a relay that rejects recipients of all projects with the same reply. */
const PAUSE_MS = 5 * 60_000;

/**
 * Returns a function that records a result. It exists nowhere else, so it is retried when the database is unavailable for a moment. Results
 * that arrive at the same time share a commit.
 */
export function createRecordQueue(options: RecordQueueOptions): (result: EmailResult) => Promise<void> {
  const replies = recentMap<RelayReplies>(RELAYS_REMEMBERED);
  const recording: Recording = {
    ...options,
    repliesOf(relay) {
      const key = relay?.id ?? '';
      const known = replies.get(key) ?? createRelayReplies(() => options.db.clock.now());
      replies.set(key, known);
      return known;
    },
  };
  const recordTogether = createRounds(recording);
  return async function record(result) {
    for (const [attempt, againMs] of [...RECORD_AGAIN_MS, null].entries()) {
      try {
        // One of the results may have failed the round, so each is then recorded alone.
        await (attempt === 0 ? recordTogether(result) : recordAndLog(recording, [result]));
        return;
      } catch (error) {
        const { projectId, draftId } = result.email;
        const fields = { project_id: projectId, draft_id: draftId, result: result.sendResult.result };
        options.log.warn({ ...fields, err: error }, 'email.not_recorded');
        if (againMs === null) return;
        await new Promise((resolve) => setTimeout(resolve, againMs));
      }
    }
  };
}

function createRounds(recording: Recording): Coalesced<EmailResult, true> {
  return coalesce({
    keyOf: ({ email }) => `${email.draftId} ${email.epoch}`,
    roundMax: ROUND_MAX,
    timeLimitMs: COMMIT_WITHIN_MS,
    async load(results) {
      recording.db.failpoint?.('email_reply_received');
      await recordAndLog(recording, results);
      return results.map(() => true as const);
    },
  });
}

/** Records results. Consequences of refusals, such as a rule that lost autopilot, are logged for the operator. */
async function recordAndLog(recording: Recording, results: EmailResult[]): Promise<void> {
  const { repliesOf, transportOf, log } = recording;
  const { failures, notes } = await recordResults(recording, results);
  for (const ofRelay of Map.groupBy(results, ({ relay }) => relay?.id ?? '').values()) {
    const relay = ofRelay[0]?.relay ?? null;
    repliesOf(relay).note(ofRelay);
    const isShared = failures.some(
      (failure) => isAmong(failure, ofRelay) && repliesOf(relay).isShared(failure),
    );
    if (isShared) transportOf(relay).pause?.(PAUSE_MS);
  }
  for (const { event, ...fields } of notes) log.warn(fields, event);
}

function isAmong({ projectId, text }: RelayFailure, results: EmailResult[]): boolean {
  return results.some(
    ({ email, sendResult }) => email.projectId === projectId && hardBounceReply(sendResult) === text,
  );
}
