import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Caller } from '../../features/team/index.ts';
import { mailPerson, type TeamMailOptions } from '../../flows/team-mail.ts';
import { clientAddress } from '../transport.ts';
import type { RouteDeps } from './route.ts';

/** A credential id has at most 1023 bytes (WebAuthn), in base64url. The library checks the rest. */
const CREDENTIAL_ID = Type.String({ pattern: '^[\\w-]+$', maxLength: 1_364 });
/** What `navigator.credentials.get` returned. */
export const PASSKEY_RESPONSE = Type.Object({ id: CREDENTIAL_ID }, { additionalProperties: true });

export type SignedInPerson = { personId: string | null; needsCode: boolean };

/** Where a request comes from, by our own rules about proxies. */
export function callerOf({ transport }: RouteDeps, request: FastifyRequest): Caller {
  return { headers: request.headers, address: clientAddress(transport, request.raw) };
}

export function setCookies(reply: FastifyReply, cookies: string[]): void {
  if (cookies.length > 0) void reply.header('Set-Cookie', cookies);
}

/** Letters of this installation's own have somewhere to go and somebody whom they are from. */
export function mayMail({ mailroom, installation }: RouteDeps): boolean {
  return mailroom.outlet.kind !== 'relay' || installation.mailFrom !== null;
}

type Mailing = { projectId: number; to: string; letter: { subject: string; text: string } };

/** Whether it was taken. What could not be mailed is shown instead, and no reason to fail. */
export async function mailTo(deps: RouteDeps, mailing: Mailing): Promise<boolean> {
  const { db, mailroom, installation, tokenKeys, newId, log } = deps;
  const { outlet } = mailroom;
  const { mailFrom } = installation;
  if (!mayMail(deps)) return false;
  try {
    const options: TeamMailOptions = {
      db,
      relay: await deps.wayOut(),
      outlet,
      mailFrom,
      tokenKeys,
      newId,
    };
    return await mailPerson(options, mailing);
  } catch (error) {
    log.warn({ err: error }, 'team_email.not_sent');
    return false;
  }
}
