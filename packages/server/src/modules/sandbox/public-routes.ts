import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Fault } from '../../platform/fault.ts';
import { type VerifiedKey, authenticate, type Call, type HttpDeps } from '../ingest/index.ts';
import { type AdvanceDeps, advanceClock, findClock, readAdvance } from './advance-clock.ts';
import { checkJsonBodies } from '../../platform/http/check-json.ts';
import { refuseBody } from '../../platform/http/refuse-request.ts';
import { faultResponse } from '../../platform/http/answers.ts';

export type SandboxDeps = AdvanceDeps & Pick<HttpDeps, 'keyring' | 'guard' | 'transport'>;

const PATH = '/api/sandbox/clock';
const BODY_MAX_BYTES = 1_024;

/** Mounts the clock of the sandbox that a test key opens, for automated tests. It is not part of the API that live keys open. */
export function mountSandbox(app: FastifyInstance, deps: SandboxDeps): void {
  void app.register((scope, _options, done) => {
    scope.setErrorHandler((error: FastifyError, request, reply) => refuse(deps, { error, request, reply }));
    checkJsonBodies(scope);
    const keys = new WeakMap<FastifyRequest, VerifiedKey>();
    // The key is checked before the body is read.
    scope.addHook('onRequest', async (request, reply) => {
      keys.set(request, await sandboxKey(deps, request, reply));
    });
    const projectOf = (request: FastifyRequest): number => keys.get(request)?.projectId ?? 0;
    scope.get(PATH, async (request) => ({ data: await findClock(deps.db, projectOf(request)) }));
    scope.post(PATH, { bodyLimit: BODY_MAX_BYTES }, async (request) => {
      const projectId = projectOf(request);
      return { data: await advanceClock(deps, { projectId, ms: readAdvance(advanceOf(request.body)) }) };
    });
    done();
  });
}

/** Reads the database for each request, so a revoked key, or one of a closed sandbox, opens nothing. */
async function sandboxKey(
  deps: SandboxDeps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<VerifiedKey> {
  const raw = { request: request.raw, response: reply.raw };
  const call: Call = { ...raw, id: request.id, headers: [], key: null, keyIsFresh: false };
  const key = await authenticate(deps, call);
  if (!key.livemode) return key;
  const message =
    'This is a live key, and a live project has no test clock. Use a key of the sandbox, sk_test_…';
  throw new Fault('forbidden', { details: [{ message }] });
}

function advanceOf(body: unknown): string {
  const value = typeof body === 'object' && body !== null && 'advance' in body ? body.advance : undefined;
  return typeof value === 'string' ? value : '';
}

type RefusalInput = { error: FastifyError; request: FastifyRequest; reply: FastifyReply };

function refuse({ log }: SandboxDeps, { error, request, reply }: RefusalInput): FastifyReply {
  const fault = error instanceof Fault ? error : faultOf(error);
  if (fault.code === 'server_error')
    log.error({ err: error, request_id: request.id, path: PATH }, 'request.failed');
  const { status, headers, body } = faultResponse(fault);
  refuseBody(request.raw, reply.raw);
  return reply.status(status).headers(headers).send(body);
}

/** Returns the fault of an error that Fastify found in a body. */
function faultOf({ statusCode }: FastifyError): Fault {
  if (statusCode === 413) return new Fault('payload_too_large');
  if (statusCode === 415) return new Fault('unsupported_media_type');
  if (statusCode !== 400) return new Fault('server_error');
  return new Fault('validation_failed', {
    details: [{ message: 'The body is not valid JSON', field: 'body' }],
  });
}
