import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Encrypter } from '../../../platform/crypto/encrypt.ts';
import { Fault } from '../../../platform/fault.ts';
import type { AddressGuard } from '../../../platform/http/address-guard.ts';
import { clientAddress, type TransportRules } from '../../../platform/http/transport.ts';
import { asObject, readJson } from '../../../platform/relays/json.ts';
import { basicPassword, isSecret } from '../../../platform/relays/verify.ts';
import { isId } from '../../workspace/index.ts';
import { MAIL_BYTES_MAX } from '../classification/read-mail.ts';
import { answerFailedHook, HOOK_RETRY_AFTER_S } from '../hook-errors.ts';
import type { ReceiveDeps } from '../mail/receive-mail.ts';
import { SOURCE_SECRET } from './kinds.ts';
import { receiveFromSource } from './receive-from-source.ts';
import { findSourceById } from './reads.ts';
import { decryptSource } from './secrets.ts';
import type { ReplySource } from './source.ts';
import { countResult, recordFailure } from './store.ts';

export type SourceHookDeps = ReceiveDeps & {
  encrypter: Encrypter;
  transport: TransportRules;
  guard: AddressGuard;
};

/** Postmark sends the raw email, and its text and attachments again. */
const BODY_MAX_BYTES = 24 * 1_048_576;
/** Requests whose body is read at the same time, so that bodies take at most 200 MB. A service repeats a request that was refused. */
const AT_ONCE = 8;
const AT_ONCE_PER_SOURCE = 2;

type Named = { Params: { id: string } };

/**
 * Receives emails that a service posts to `POST /hooks/replies/<id>`. The password is verified before the body is read. An unknown source
 * and a wrong password get the same answer.
 */
export function mountReplyHooks(app: FastifyInstance, deps: SourceHookDeps): void {
  const slots = requestSlots();
  void app.register(async (scope) => {
    const sources = new WeakMap<FastifyRequest, ReplySource>();
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      '*',
      { parseAs: 'buffer', bodyLimit: BODY_MAX_BYTES },
      (_request, body, done) => done(null, body),
    );
    scope.setErrorHandler((error, request, reply) =>
      answerFailedHook(deps.log, 'reply_source.failed', { error, request, reply }),
    );
    scope.addHook<Named>('onRequest', async (request, reply) => {
      const source = await requireSource(deps, request);
      const release = slots.take(source.id);
      if (!release) throw new Fault('rate_limited', { retryAfterS: HOOK_RETRY_AFTER_S });
      reply.raw.once('close', release);
      sources.set(request, source);
    });
    scope.post('/hooks/replies/:id', async (request, reply) => {
      const source = sources.get(request);
      if (!source) throw new Error('a request without a source');
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      await receivePushed(deps, source, body);
      return reply.code(200).send({ received: true });
    });
  });
}

/** Counts the requests in progress. */
function requestSlots(): { take(id: string): (() => void) | null } {
  const taken = new Map<string, number>();
  let all = 0;
  return {
    take(id) {
      const own = taken.get(id) ?? 0;
      if (all >= AT_ONCE || own >= AT_ONCE_PER_SOURCE) return null;
      all += 1;
      taken.set(id, own + 1);
      return () => {
        all -= 1;
        const left = (taken.get(id) ?? 1) - 1;
        if (left > 0) taken.set(id, left);
        else taken.delete(id);
      };
    },
  };
}

async function requireSource(deps: SourceHookDeps, request: FastifyRequest<Named>): Promise<ReplySource> {
  const { db, encrypter, guard, transport } = deps;
  const address = clientAddress(transport, request.raw);
  const refusal = guard.refusal(address);
  if (refusal) throw refusal;
  const { id } = request.params;
  const found = isId(id) ? await findSourceById(db, id) : undefined;
  const isPushed = found?.source.kind === 'postmark' || found?.source.kind === 'http';
  const secret = found && isPushed ? decryptSource(encrypter, found)[SOURCE_SECRET] : undefined;
  if (found && isSecret(basicPassword({ headers: request.headers, body: NO_BODY }), secret))
    return found.source;
  guard.failed(address);
  throw new Fault('auth_required', {
    details: [{ message: 'Unknown reply source, or a wrong password' }],
  });
}

const NO_BODY = Buffer.alloc(0);

async function receivePushed(deps: SourceHookDeps, source: ReplySource, body: Buffer): Promise<void> {
  const { db } = deps;
  const raw = source.kind === 'postmark' ? rawOfPostmark(body) : body;
  if (raw === null || raw.length === 0) {
    const failure = source.kind === 'postmark' ? NO_RAW : 'The request has no body.';
    await recordFailure(db, source, { failure, at: db.clock.now(), nextReadAt: null, isAtEmail: false });
    throw new Fault('validation_failed', { details: [{ message: failure }] });
  }
  const { projectId } = source;
  const result =
    raw.length > MAIL_BYTES_MAX ? 'too_large' : await receiveFromSource(deps, { projectId, raw });
  await countResult(db, { ...source, result, readAt: db.clock.now() });
}

const NO_RAW =
  'Postmark did not send the raw email. Turn on “Include raw email content in JSON payload” in the settings of the inbound stream.';

/** Returns the email of an inbound webhook: https://postmarkapp.com/developer/webhooks/inbound-webhook. */
function rawOfPostmark(body: Buffer): Buffer | null {
  const raw = asObject(readJson(body))['RawEmail'];
  return typeof raw === 'string' ? Buffer.from(raw) : null;
}
