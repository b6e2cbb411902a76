import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type AppFile, encodedFile, readAppFiles } from './app.ts';

/** The built guide, in memory: some megabytes, which few clients request. */
type GuideFiles = {
  /** By path below the guide, `/rules.html`. */
  files: ReadonlyMap<string, AppFile>;
  /** The policy of each page: which of its own scripts run. */
  policies: ReadonlyMap<string, string>;
};

/** `building`: a request started the build just now. */
export type GuideState = { kind: 'building' } | { kind: 'failed' } | ({ kind: 'ready' } & GuideFiles);

type GuideDeps = {
  /** Called for each request; the first one may start the build. */
  state: () => GuideState;
};

/**
 * Mounts the guide at `/guide/`, each page also as Markdown, and an index of all pages for programs. `/docs`, where people look for an API
 * reference, leads to its page of the guide.
 */
export function mountGuide(app: FastifyInstance, { state }: GuideDeps): void {
  app.get('/guide', (_request, reply) => reply.redirect('/guide/', 308));
  app.get('/docs', (_request, reply) => reply.redirect('/guide/api.html', 302));
  for (const path of ['/guide/*', ...AT_THE_ROOT])
    app.get(path, (request, reply) => {
      const now = state();
      if (now.kind !== 'ready') return unready(reply, now.kind);
      const path = pathOf(request).replace(/^\/guide(?=\/)/, '');
      const found = [path === '/' ? '/index.html' : path, `${path}.html`].find((candidate) =>
        now.files.has(candidate),
      );
      return send({ request, reply }, now, { path: found ?? '/404.html', status: found ? 200 : 404 });
    });
}

const AT_THE_ROOT = ['/llms.txt', '/llms-full.txt'];

export async function readGuide(folder: string): Promise<GuideFiles> {
  const { files } = await readAppFiles(folder);
  const pages = [...files].filter(([path]) => path.endsWith('.html'));
  return { files, policies: new Map(pages.map(([path, { body }]) => [path, policyOf(body.toString())])) };
}

const INLINE_SCRIPT = /<script(?![^<>]*\ssrc=)[^<>]*>([^]*?)(?:<\/script>|$)/g;

/** Our files run, and the few lines within a page that choose its colors before it is drawn: by their hash, and no other script. */
function policyOf(page: string): string {
  const hashes = [...page.matchAll(INLINE_SCRIPT)].map(
    ([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  );
  return ["default-src 'none'", ["script-src 'self'", ...new Set(hashes)].join(' '), ...REST].join('; ');
}

const REST = [
  // Colors of code are inlined in the page; a style runs nothing.
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
];
const NOTHING = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'";

type Exchange = { request: FastifyRequest; reply: FastifyReply };

function send(
  { request, reply }: Exchange,
  { files, policies }: GuideFiles,
  { path, status }: { path: string; status: number },
): FastifyReply {
  const file = files.get(path);
  if (!file) return reply.status(404).headers(headersOf(NOTHING)).send();
  const { body, headers } = encodedFile(file, request);
  reply.status(status).headers({
    ...headersOf(policies.get(path) ?? NOTHING),
    ...headers,
    'Content-Type': file.type,
    // The browser keeps its copy of files that cannot change.
    'Cache-Control': file.isHashed ? 'public, max-age=31536000, immutable' : 'no-cache',
  });
  return reply.send(body);
}

const WAIT_S = 2;

function unready(reply: FastifyReply, kind: 'building' | 'failed'): FastifyReply {
  const text =
    kind === 'building'
      ? 'The guide is being built; this takes some seconds after an update. The page loads again by itself.'
      : 'The guide could not be built: the log of the server says why. Its pages are in the folder docs of the repository, too.';
  const again = kind === 'building' ? `<meta http-equiv="refresh" content="${WAIT_S}">` : '';
  return reply
    .status(503)
    .headers({
      ...headersOf(NOTHING),
      'Retry-After': String(WAIT_S),
      'Content-Type': 'text/html; charset=utf-8',
    })
    .send(
      `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">${again}<title>Beckon: guide</title><style>body{font:16px/1.5 system-ui,sans-serif;max-width:36rem;margin:15vh auto;padding:0 1rem;color-scheme:light dark}</style><h1>Guide</h1><p>${text}</p>`,
    );
}

function headersOf(policy: string): Record<string, string> {
  return {
    'Content-Security-Policy': policy,
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Opener-Policy': 'same-origin',
  };
}

function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? '';
}
