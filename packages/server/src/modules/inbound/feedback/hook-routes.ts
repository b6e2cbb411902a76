import type { FastifyInstance } from 'fastify';
import { createFairQueue } from '../../../platform/async/fair-queue.ts';
import type { Encrypter } from '../../../platform/crypto/encrypt.ts';
import { Fault } from '../../../platform/fault.ts';
import type { AddressGuard } from '../../../platform/http/address-guard.ts';
import { clientAddress, type TransportRules } from '../../../platform/http/transport.ts';
import type { Outbound } from '../../../platform/outbound/outbound.ts';
import type { HookRequest, RelayContext, RelayWebhook } from '../../../platform/relays/adapter.ts';
import type { RelayKinds } from '../../../platform/relays/kinds.ts';
import { findRelayWithSecrets } from '../../sending/index.ts';
import { isId } from '../../workspace/index.ts';
import { answerFailedHook, HOOK_RETRY_AFTER_S } from '../hook-errors.ts';
import { applyEvents, type FeedbackDeps } from './apply-events.ts';

export type HookDeps = FeedbackDeps & {
  encrypter: Encrypter;
  kinds: RelayKinds;
  outbound: Outbound;
  transport: TransportRules;
  guard: AddressGuard;
};

/** More than any provider puts into one request. */
const BODY_MAX_BYTES = 1_048_576;

/** A provider repeats what it could not deliver, so a relay that reports too fast is asked to wait. */
const RELAY_QUEUE = { atOnce: 8, atOncePerKey: 2, slots: 400, slotsPerKey: 50 };

/**
 * Receives the webhooks of providers at `POST /hooks/relays/<id>`. A request is read after its signature was verified. An unknown
 * relay and a wrong signature get the same answer.
 */
export function mountRelayHooks(app: FastifyInstance, deps: HookDeps): void {
  const relayQueue = createFairQueue(RELAY_QUEUE);
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      '*',
      { parseAs: 'buffer', bodyLimit: BODY_MAX_BYTES },
      (_request, body, done) => done(null, body),
    );
    scope.setErrorHandler((error, request, reply) =>
      answerFailedHook(deps.log, 'relay_feedback.failed', { error, request, reply }),
    );
    scope.post<Named>('/hooks/relays/:id', async (request, reply) => {
      const address = clientAddress(deps.transport, request.raw);
      const refusal = deps.guard.refusal(address);
      if (refusal) throw refusal;
      const { id } = request.params;
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      const work = () => receiveHook(deps, id, { headers: request.headers, body });
      const isAccepted = isId(id) && (await relayQueue.run(id, work));
      if (!isAccepted) {
        deps.guard.failed(address);
        throw new Fault('auth_required', {
          details: [{ message: 'Unknown relay, or a signature that is not valid' }],
        });
      }
      return reply.code(200).send({ received: true });
    });
  });
}

type Named = { Params: { id: string } };

/** Returns false if the request does not prove that the provider sent it. */
async function receiveHook(deps: HookDeps, id: string, request: HookRequest): Promise<boolean> {
  const { db, kinds, outbound, encrypter, log } = deps;
  const found = await findRelayWithSecrets({ db, encrypter }, id);
  const reporter = found && kinds.reporterOf(found.relay.kind, found.settings);
  const webhook = reporter?.adapter.webhook;
  if (!found || !reporter || !webhook) return false;
  const { relay } = found;
  const { settings } = reporter;
  const context = { settings, outbound, key: relay.id, now: () => db.clock.now() };
  const verdict = await webhook.verify(request, context);
  if (verdict !== 'valid') {
    log.info({ relay_id: relay.id, reason: verdict }, 'relay_feedback.refused');
    return false;
  }
  if (await confirms(deps, { webhook, request, context })) return true;
  await applyEvents(deps, relay, webhook.parse(request));
  return true;
}

type Confirmation = { webhook: RelayWebhook; request: HookRequest; context: RelayContext };

/** Returns whether the request asked for a confirmation. A failed one is repeated by the provider. */
async function confirms({ log }: HookDeps, { webhook, request, context }: Confirmation): Promise<boolean> {
  const result = (await webhook.confirm?.(request, context)) ?? 'none';
  if (result === 'none') return false;
  log.info({ relay_id: context.key, result }, 'relay_feedback.subscription');
  if (result === 'failed') throw new Fault('busy', { retryAfterS: HOOK_RETRY_AFTER_S });
  return true;
}
