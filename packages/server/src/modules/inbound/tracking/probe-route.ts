import type { FastifyInstance } from 'fastify';
import { Fault } from '../../../platform/fault.ts';
import type { TokenKeys } from '../../../platform/crypto/email-token.ts';
import { probeAnswer } from '../../sending/index.ts';
import { answerFault } from '../../../platform/http/faults.ts';

/** Serves `/.well-known/beckon/<token>`, by which this installation checks whether a domain's host for links leads to it. */
export function mountProbe(app: FastifyInstance, { tokenKeys }: { tokenKeys: TokenKeys }): void {
  app.get<{ Params: { token: string } }>('/.well-known/beckon/:token', (request, reply) => {
    const answer = probeAnswer(request.params.token, tokenKeys);
    if (answer === null) {
      const { status, body } = answerFault(new Fault('not_found'));
      return reply.code(status).send(body);
    }
    return reply.header('Cache-Control', 'no-store').type('text/plain; charset=utf-8').send(answer);
  });
}
