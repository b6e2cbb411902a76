import type { SendResult } from '../../platform/mail/send-result.ts';
import { type Ask, claimAsks } from './claim-asks.ts';
import type { SendDeps } from './draft-batch.ts';
import { listProjectsToAsk } from './ask-rows.ts';
import { type AnswerDeps, recordAnswer } from './record-answer.ts';
import type { Channels } from './relay-channels.ts';

export type AskDeps = {
  claiming: SendDeps;
  answering: AnswerDeps;
  channels: Channels;
  submit: (ask: Ask) => Promise<SendResult>;
  isStopping: () => boolean;
};

const PROJECTS_MAX = 1_000;
/** A question that waited longer for a slot is not asked, because its checks are too old. */
const BEGIN_WITHIN_MS = 30_000;

/**
 * Asks relays what became of emails whose delivery is unknown, by the same request with the same idempotency key. Each project has the same
 * number of questions in one round. Returns how many were asked.
 */
export async function askRelays(deps: AskDeps): Promise<number> {
  const { claiming, channels, answering } = deps;
  const now = new Date(claiming.db.clock.now());
  const answered: Promise<void>[] = [];
  let count = 0;
  for (const projectId of await listProjectsToAsk(claiming.db, { now, limit: PROJECTS_MAX })) {
    if (deps.isStopping()) break;
    try {
      const asks = await claimAsks(claiming, projectId, channels);
      count += asks.length;
      for (const [channel, ofChannel] of Map.groupBy(asks, ({ relay }) => channels.channelOf(relay)))
        answered.push(channel.inFlight.run(ofChannel, (ask) => askOne(deps, ask)));
    } catch (error) {
      answering.log.warn({ project_id: projectId, err: error }, 'relay.not_asked');
    }
  }
  await Promise.all(answered);
  return count;
}

async function askOne({ claiming, answering, channels, submit }: AskDeps, ask: Ask): Promise<void> {
  const answer = await channels
    .channelOf(ask.relay)
    .slots.use(() =>
      claiming.db.clock.now() - ask.claimedAt > BEGIN_WITHIN_MS ? Promise.resolve(null) : submit(ask),
    );
  if (answer) await recordAnswer(answering, ask, answer);
}
