import { type Coalesced, coalesce } from '../../platform/async/coalesce.ts';
import type { Log } from '../../platform/log.ts';
import { type RecordingDeps, recordResults } from './record-results.ts';
import { createRelayReplies, type RelayReplies } from './relay-notices.ts';
import type { EmailResult, Transport } from './transport.ts';

type RecordQueueOptions = RecordingDeps & { log: Log; transport: Transport };
type Recording = RecordQueueOptions & { relayReplies: RelayReplies };

const ROUND_MAX = 100;
const COMMIT_WITHIN_MS = 30_000;
const RECORD_AGAIN_MS = [100, 500, 2_000, 5_000, 15_000, 30_000];
/** The pause for a relay that rejects recipients of all projects with the same reply. */
const PAUSE_MS = 5 * 60_000;

/**
 * Returns a function that records a result. It exists nowhere else, so it is retried when the database is unavailable for a moment. Results
 * that arrive at the same time share a commit.
 */
export function createRecordQueue(options: RecordQueueOptions): (result: EmailResult) => Promise<void> {
  const recording = { ...options, relayReplies: createRelayReplies(() => options.db.clock.now()) };
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
  const { relayReplies, transport, log } = recording;
  const { failures, notes } = await recordResults(recording, results);
  relayReplies.note(results);
  if (failures.some((failure) => relayReplies.isShared(failure))) transport.pause?.(PAUSE_MS);
  for (const { event, ...fields } of notes) log.warn(fields, event);
}
