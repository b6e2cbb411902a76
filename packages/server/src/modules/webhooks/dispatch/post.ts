import { signWebhook } from '@beckon/contract/signature';
import type { Clock } from '../../../platform/time/clock.ts';
import type { FailpointHook } from '../../../platform/failpoints.ts';
import type { Log } from '../../../platform/log.ts';
import type { Sealer } from '../../../platform/crypto/encrypt.ts';
import { openSecret } from '../endpoints/secrets.ts';
import { messageName } from '../deliveries/webhook.ts';
import type { Outbound } from '../../../platform/outbound/outbound.ts';
import { type AttemptResult, toAnswer } from './answer.ts';
import type { Leaving } from './round.ts';

export type PostDeps = {
  clock: Clock;
  log: Log;
  sealer: Sealer;
  outbound: Pick<Outbound, 'post'>;
  /** The User-Agent of requests. */
  agent: string;
  reach?: FailpointHook | undefined;
};

/** Sends a claimed delivery, with a fresh signature by every live secret. Never rejects. */
export async function post(deps: PostDeps, leaving: Leaving): Promise<AttemptResult> {
  const { clock, log, outbound, reach } = deps;
  try {
    const posted = reach && (() => reach('hook_posted'));
    const answer = await outbound.post({ ...requestOf(deps, leaving), posted });
    reach?.('hook_answered');
    return toAnswer(answer, clock.now());
  } catch (error) {
    const { projectId, endpointId, messageId } = leaving;
    log.error(
      { project_id: projectId, endpoint_id: endpointId, webhook_id: messageId, err: error },
      'webhook.not_posted',
    );
    return { kind: 'failed', endedAt: clock.now(), error: 'internal', text: '' };
  }
}

function requestOf({ clock, sealer, agent }: PostDeps, leaving: Leaving): Parameters<Outbound['post']>[0] {
  const { messageId, endpointId, url, secrets } = leaving;
  const body = Buffer.from(leaving.body);
  const signed = signWebhook({
    id: messageName(messageId),
    body,
    timestamp: Math.floor(clock.now() / 1_000),
    secrets: secrets.map((secret) => openSecret(sealer, secret)),
  });
  const headers = { ...signed, 'content-type': 'application/json', 'user-agent': agent };
  return { url, headers, body, key: endpointId };
}
