import type { FastifyReply, FastifyRequest } from 'fastify';
import { QueueFull } from '../../platform/async/fair-queue.ts';
import { Fault } from '../../platform/fault.ts';
import { faultResponse } from '../../platform/http/answers.ts';
import type { LogEvent } from '../../platform/log-names.ts';
import type { Log } from '../../platform/log.ts';

/** A provider repeats a request that failed or was refused for now. */
export const HOOK_RETRY_AFTER_S = 5;

type FailedHook = { error: unknown; request: FastifyRequest; reply: FastifyReply };

/** Answers a failed webhook of a provider. An error of ours is logged under `event`, and the provider is asked to repeat the request. */
export function answerFailedHook(
  log: Log,
  event: LogEvent<'error'>,
  { error, request, reply }: FailedHook,
): FastifyReply {
  const fault = faultOf(error);
  if (fault === null) log.error({ err: error, request_id: request.id }, event);
  const { status, headers, body } = faultResponse(
    fault ?? new Fault('server_error', { retryAfterS: HOOK_RETRY_AFTER_S }),
  );
  return reply.code(status).headers(headers).send(body);
}

function faultOf(error: unknown): Fault | null {
  if (error instanceof Fault) return error;
  if (error instanceof QueueFull) return new Fault('rate_limited', { retryAfterS: HOOK_RETRY_AFTER_S });
  const status = (error as { statusCode?: unknown }).statusCode;
  if (status === 413) return new Fault('payload_too_large');
  return typeof status === 'number' && status < 500 ? new Fault('bad_request') : null;
}
