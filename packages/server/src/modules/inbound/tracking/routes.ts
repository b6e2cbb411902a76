import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Tracker } from './tracker.ts';
import { type Hit, signsOf } from './hits.ts';
import { probeResponse } from '../../sending/index.ts';
import {
  type EmailName,
  readEmailToken,
  type TokenKeys,
  type TokenUse,
} from '../../../platform/crypto/email-token.ts';
import { Fault } from '../../../platform/fault.ts';
import { faultResponse } from '../../../platform/http/answers.ts';
import { clientAddress, type TransportRules } from '../../../platform/http/transport.ts';
import type { Log } from '../../../platform/log.ts';
import { LANGUAGES } from '../../../platform/recipient-texts/languages.ts';
import { negotiateLanguage } from '../../../platform/recipient-texts/negotiate-language.ts';
import type { Clock } from '../../../platform/time/clock.ts';

type TrackingDeps = {
  tracker: Pick<Tracker, 'note' | 'targetOf'>;
  tokenKeys: TokenKeys;
  transport: TransportRules;
  clock: Clock;
  log: Log;
};

/**
 * Serves the pixel of an email and its links: `/o/<token>.gif` and `/c/<token>/<number>`. Only tokens that we signed are valid, for a year,
 * and nothing in a request decides the target. A HEAD is answered and not counted.
 */
export function mountTracking(app: FastifyInstance, deps: TrackingDeps): void {
  app.get<{ Params: { token: string } }>('/o/:token', (request, reply) => {
    const name = nameIn(request.params.token.replace(/\.gif$/i, ''), 'open', deps);
    if (name === null) return gone(reply);
    note(deps, request, { ...name, kind: 'open', link: null });
    return plain(reply).type('image/gif').send(PIXEL);
  });
  app.get<{ Params: { token: string; link: string } }>('/c/:token/:link', async (request, reply) => {
    const { token, link: text } = request.params;
    if (!LINK_NUMBER.test(text)) return gone(reply);
    const link = Number(text);
    const name = nameIn(token, `click ${link}`, deps);
    if (name !== null) return follow(deps, { request, reply, name, link });
    const trapped = nameIn(token, 'trap', deps);
    if (trapped === null) return gone(reply);
    note(deps, request, { ...trapped, kind: 'trap', link: null });
    return plain(reply).code(204).send();
  });
}

const LINK_NUMBER = /^(?:0|[1-9]\d{0,2})$/;
const GOOD_FOR_MS = 365 * 86_400_000;
const AGENT_MAX_CHARS = 300;
const RETRY_AFTER_S = 5;

function nameIn(token: string, use: TokenUse, { tokenKeys, clock }: TrackingDeps): EmailName | null {
  const name = readEmailToken(token, use, tokenKeys);
  return name !== null && clock.now() - madeAt(name.emailId) <= GOOD_FOR_MS ? name : null;
}

/** The id of an email begins with the time of its creation. */
function madeAt(emailId: string): number {
  return Number.parseInt(emailId.replaceAll('-', '').slice(0, 12), 16);
}

type LinkRequest = { request: FastifyRequest; reply: FastifyReply; name: EmailName; link: number };

async function follow(
  deps: TrackingDeps,
  { request, reply, name, link }: LinkRequest,
): Promise<FastifyReply> {
  try {
    const target = webAddress(await deps.tracker.targetOf({ ...name, link }));
    if (target === null) return gone(reply);
    note(deps, request, { ...name, kind: 'click', link });
    return plain(reply).code(302).header('Location', target).send();
  } catch (error) {
    deps.log.warn({ err: error, project_id: name.projectId }, 'link.not_followed');
    return page(reply.header('Retry-After', String(RETRY_AFTER_S)), 503, 'unavailable');
  }
}

/** Returns the target as a header value if it is a web page, whatever the table contains. */
function webAddress(target: string | null): string | null {
  const url = target === null ? null : URL.parse(target);
  return url && (url.protocol === 'https:' || url.protocol === 'http:') ? url.href : null;
}

function note(
  { tracker, clock, transport }: TrackingDeps,
  request: FastifyRequest,
  fetched: Pick<Hit, 'projectId' | 'emailId' | 'kind' | 'link'>,
): void {
  if (request.method === 'HEAD') return;
  const { headers } = request;
  const agent = (headers['user-agent'] ?? '').slice(0, AGENT_MAX_CHARS);
  const purpose = PURPOSES.map((name) => headers[name] ?? '').join(' ');
  tracker.note({
    ...fetched,
    at: clock.now(),
    signs: signsOf({ agent, purpose }),
    agent: agent === '' ? null : agent,
    remote: clientAddress(transport, request.raw) || null,
  });
}

/** Headers by which browsers announce, or announced, a prefetch. */
const PURPOSES = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'];

function gone(reply: FastifyReply): FastifyReply {
  return page(reply, 404, 'invalid');
}

function page(reply: FastifyReply, status: number, state: 'invalid' | 'unavailable'): FastifyReply {
  return plain(reply)
    .code(status)
    .header('Vary', 'Accept-Language')
    .header(
      'Content-Security-Policy',
      "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    )
    .type('text/html; charset=utf-8')
    .send(linkPage(state, reply.request.headers['accept-language']));
}

/** A browser must not pass the token of a link on to its target. */
function plain(reply: FastifyReply): FastifyReply {
  return reply.headers({ 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' });
}

/** A transparent GIF of one pixel. */
const PIXEL = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

/** The page of a link that cannot be followed, in a language of the browser. */
function linkPage(state: 'invalid' | 'unavailable', accepted: string | undefined): string {
  const language = negotiateLanguage({ accepted });
  const { dir, unknownTitle, unknown, failedTitle: troubleTitle, linkUnavailable } = LANGUAGES[language];
  const [title, text] = state === 'invalid' ? [unknownTitle, unknown] : [troubleTitle, linkUnavailable];
  return `<!doctype html>
<html lang="${language}" dir="${dir}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex"><title>${title}</title>
<style>body{margin:15vh auto;max-width:32rem;padding:0 1.5rem;font:1.125rem/1.6 system-ui,sans-serif;color:#1f2328;background:#fff}</style>
</head><body><main><h1>${title}</h1><p>${text}</p></main></body></html>
`;
}

/** Serves `/.well-known/beckon/<token>`, by which this installation checks whether a domain's host for links leads to it. */
export function mountProbe(app: FastifyInstance, { tokenKeys }: { tokenKeys: TokenKeys }): void {
  app.get<{ Params: { token: string } }>('/.well-known/beckon/:token', (request, reply) => {
    const content = probeResponse(request.params.token, tokenKeys);
    if (content === null) {
      const { status, body } = faultResponse(new Fault('not_found'));
      return reply.code(status).send(body);
    }
    return reply.header('Cache-Control', 'no-store').type('text/plain; charset=utf-8').send(content);
  });
}
