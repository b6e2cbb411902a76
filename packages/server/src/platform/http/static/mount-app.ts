import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isLoopbackName } from '../../net/loopback.ts';
import { Fault } from '../../fault.ts';
import { answerFault } from '../faults.ts';
import type { AppFile, AppState } from './files.ts';

type AppDeps = {
  publicUrl: string;
  /** Called for each request: the dashboard may still be being built. */
  state: () => AppState;
};

/** The paths that the page handles. The page itself routes anything below them. */
const PAGES = ['/', '/p/*', '/projects', '/setup', '/sign-in', '/invite', '/reset', '/device', '/profile'];
const A_PROJECT = /^\/p\/\d+(?:[/?]|$)/;

/** Mounts the page and the files of the dashboard. None of them is secret, and a visitor has yet to sign in. */
export function mountApp(app: FastifyInstance, { publicUrl, state }: AppDeps): void {
  for (const path of PAGES)
    app.get(path, (request, reply) => {
      const elsewhere = otherLoopback(publicUrl, request);
      if (elsewhere !== null) return reply.redirect(elsewhere, 307);
      const now = state();
      if (now.kind !== 'ready') return unready(reply, now.kind);
      // The page says that there is no such project. The status says so to clients that do not read the text.
      if (path === '/p/*' && !A_PROJECT.test(request.url)) reply.status(404);
      return send(request, reply, now.page);
    });
  for (const path of ['/assets/*', '/beckon.svg', '/scheme.js'])
    app.get(path, (request, reply) => {
      const now = state();
      const file = now.kind === 'ready' ? now.files.get(request.url.split('?', 1)[0] ?? '') : undefined;
      if (file) return send(request, reply, file);
      const { status, body } = answerFault(new Fault('not_found'));
      return reply.status(status).send(body);
    });
}

/** Only our files run, nothing is sent elsewhere, and no page may frame this one. Content of emails loads in frames that allow nothing. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  // The components write sizes and colors into elements; a style runs nothing.
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "frame-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS = {
  'Content-Security-Policy': POLICY,
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), microphone=(), geolocation=(), publickey-credentials-get=(self)',
};

function send(request: FastifyRequest, reply: FastifyReply, file: AppFile): FastifyReply {
  const packs = file.packed !== null && /\bgzip\b/.test(request.headers['accept-encoding'] ?? '');
  reply.headers({ ...HEADERS, 'Content-Type': file.type, Vary: 'Accept-Encoding' });
  if (packs) reply.header('Content-Encoding', 'gzip');
  // The browser keeps its copy of files that cannot change.
  reply.header('Cache-Control', file.isHashed ? 'public, max-age=31536000, immutable' : 'no-cache');
  return reply.send(packs ? file.packed : file.body);
}

const WAIT_S = 2;

function unready(reply: FastifyReply, kind: 'building' | 'failed'): FastifyReply {
  const text =
    kind === 'building'
      ? 'The dashboard is being built; this takes some seconds after an update. The page loads again by itself. The API works already.'
      : 'The dashboard could not be built: the log of the server says why. The API works.';
  const again = kind === 'building' ? `<meta http-equiv="refresh" content="${WAIT_S}">` : '';
  return reply
    .status(503)
    .headers({ ...HEADERS, 'Retry-After': String(WAIT_S), 'Content-Type': 'text/html; charset=utf-8' })
    .send(
      `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">${again}<title>Beckon</title><style>body{font:16px/1.5 system-ui,sans-serif;max-width:36rem;margin:15vh auto;padding:0 1rem;color-scheme:light dark}</style><h1>Beckon</h1><p>${text}</p>`,
    );
}

/** Sessions and passkeys belong to one origin. On a developer's machine, `127.0.0.1` and `localhost` are two origins. */
function otherLoopback(publicUrl: string, request: FastifyRequest): string | null {
  const own = new URL(publicUrl);
  const host = request.headers.host ?? '';
  if (!isLoopbackName(own.hostname) || host === own.host) return null;
  if (!URL.canParse(`http://${host}`)) return null;
  const asked = new URL(`http://${host}`);
  return isLoopbackName(asked.hostname) && asked.port === own.port ? own.origin + request.url : null;
}
