import { signWebhook } from '@beckon/contract/signature';
import type { Clock } from '../../../platform/time/clock.ts';
import type { FailpointHook } from '../../../platform/failpoints.ts';
import type { Log } from '../../../platform/log.ts';
import type { Encrypter } from '../../../platform/crypto/encrypt.ts';
import { decryptSecret } from '../endpoints/secrets.ts';
import { webhookName } from '../deliveries/webhook.ts';
import type { Outbound } from '../../../platform/outbound/outbound.ts';
import { type AttemptResult, attemptResult } from './answer.ts';
import type { OutgoingDelivery } from './round.ts';

export type PostDeps = {
  clock: Clock;
  log: Log;
  encrypter: Encrypter;
  outbound: Pick<Outbound, 'post'>;
  /** The User-Agent of requests. */
  agent: string;
  failpoint?: FailpointHook | undefined;
};

/** Sends a claimed delivery, with a fresh signature by every live secret. Never rejects. */
export async function post(deps: PostDeps, delivery: OutgoingDelivery): Promise<AttemptResult> {
  const { clock, log, outbound, failpoint } = deps;
  try {
    const posted = failpoint && (() => failpoint('webhook_posted'));
    const response = await outbound.post({ ...requestOf(deps, delivery), posted });
    failpoint?.('webhook_response_received');
    return attemptResult(response, clock.now());
  } catch (error) {
    const { projectId, endpointId, webhookId } = delivery;
    log.error(
      { project_id: projectId, endpoint_id: endpointId, webhook_id: webhookId, err: error },
      'webhook.not_posted',
    );
    return { kind: 'failed', endedAt: clock.now(), error: 'internal', text: '' };
  }
}

function requestOf(
  { clock, encrypter, agent }: PostDeps,
  delivery: OutgoingDelivery,
): Parameters<Outbound['post']>[0] {
  const { webhookId, endpointId, url, secrets } = delivery;
  const body = Buffer.from(delivery.body);
  const signed = signWebhook({
    id: webhookName(webhookId),
    body,
    timestamp: Math.floor(clock.now() / 1_000),
    secrets: secrets.map((secret) => decryptSecret(encrypter, secret)),
  });
  const headers = { ...signed, 'content-type': 'application/json', 'user-agent': agent };
  return { url, headers, body, key: endpointId };
}
