import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from './team.ts';
import { clientAddress } from '../../../platform/http/transport.ts';
import type { KitDeps } from '../dashboard-api/route.ts';

export type SignInOutcome = { memberId: string | null; needsCode: boolean };

/** Returns the origin of a request, by our own rules about proxies. */
export function callerOf({ transport }: Pick<KitDeps, 'transport'>, request: FastifyRequest): Caller {
  return { headers: request.headers, address: clientAddress(transport, request.raw) };
}

export function setCookies(reply: FastifyReply, cookies: string[]): void {
  if (cookies.length > 0) void reply.header('Set-Cookie', cookies);
}
