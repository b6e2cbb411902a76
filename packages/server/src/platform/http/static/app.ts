import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip as gzipCallback } from 'node:zlib';
import { Fault } from '../../fault.ts';
import { faultResponse } from '../answers.ts';
import { isLoopbackName } from '../../net/network-address.ts';

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
      const location = otherLoopback(publicUrl, request);
      if (location !== null) return reply.redirect(location, 307);
      const now = state();
      if (now.kind !== 'ready') return unready(reply, now.kind);
      // The page says that there is no such project. The status says so to clients that do not read the text.
      if (path === '/p/*' && !A_PROJECT.test(request.url)) reply.status(404);
      return send(request, reply, now.page);
    });
  app.setNotFoundHandler((request, reply) => {
    // Browsers ask for text/html. Programs, such as one that reads /metrics, need the error of the API.
    if (request.headers.accept?.includes('text/html') !== true) return notFound(reply);
    const now = state();
    if (now.kind !== 'ready') return unready(reply, now.kind);
    return send(request, reply.status(404), now.page);
  });
  for (const path of ['/assets/*', '/beckon.svg', '/scheme.js'])
    app.get(path, (request, reply) => {
      const now = state();
      const file = now.kind === 'ready' ? now.files.get(request.url.split('?', 1)[0] ?? '') : undefined;
      return file ? send(request, reply, file) : notFound(reply);
    });
}

function notFound(reply: FastifyReply): FastifyReply {
  const { status, body } = faultResponse(new Fault('not_found'));
  return reply.status(status).send(body);
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
  const { body, headers } = encodedFile(file, request);
  reply.headers({ ...HEADERS, ...headers, 'Content-Type': file.type });
  // The browser keeps its copy of files that cannot change.
  reply.header('Cache-Control', file.isHashed ? 'public, max-age=31536000, immutable' : 'no-cache');
  return reply.send(body);
}

/** The smallest form of a file that the client accepts. Browsers accept Brotli by HTTPS and from this machine. */
export function encodedFile(
  file: AppFile,
  { headers }: FastifyRequest,
): { body: Buffer; headers: Record<string, string> } {
  const accepted = (headers['accept-encoding'] ?? '').split(',').map((coding) => coding.trim());
  for (const coding of ['br', 'gzip'] as const) {
    const body = file[coding];
    if (body !== null && accepted.includes(coding))
      return { body, headers: { 'Content-Encoding': coding, Vary: 'Accept-Encoding' } };
  }
  return { body: file.body, headers: { Vary: 'Accept-Encoding' } };
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
  const ownUrl = new URL(publicUrl);
  const host = request.headers.host ?? '';
  if (!isLoopbackName(ownUrl.hostname) || host === ownUrl.host) return null;
  if (!URL.canParse(`http://${host}`)) return null;
  const requestedUrl = new URL(`http://${host}`);
  return isLoopbackName(requestedUrl.hostname) && requestedUrl.port === ownUrl.port
    ? ownUrl.origin + request.url
    : null;
}

/** The built dashboard, in memory: some megabytes, which few clients request. */
export type AppFile = {
  body: Buffer;
  gzip: Buffer | null;
  /** Only the build compresses with Brotli, which takes seconds. */
  br: Buffer | null;
  type: string;
  isHashed: boolean;
};

type AppFiles = {
  /** The page itself; it names all other files. */
  page: AppFile;
  /** By path, `/assets/index-1a2b.js`. */
  files: ReadonlyMap<string, AppFile>;
};

/** Not built yet, or failed to build; then `/` says so. */
export type AppState = { kind: 'building' } | { kind: 'failed' } | ({ kind: 'ready' } & AppFiles);

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.json': 'application/json; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
};
/** Compressed already, by their own format. */
const PACKED = new Set(['.png', '.woff2', '.ico']);
const pack = promisify(gzipCallback);

/** Reads the built files. A file of an unknown type is not served. */
export async function readAppFiles(folder: string): Promise<AppFiles> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = new Map<string, AppFile>();
  for (const entry of names) {
    const type = TYPES[extname(entry.name)];
    if (!entry.isFile() || type === undefined) continue;
    const file = join(entry.parentPath, entry.name);
    const path = file.slice(folder.length).replaceAll('\\', '/');
    files.set(path, await toFile(file, { path, type }));
  }
  const page = files.get('/index.html');
  if (!page) throw new Error(`There is no index.html in ${folder}`);
  return { page, files };
}

async function toFile(source: string, { path, type }: { path: string; type: string }): Promise<AppFile> {
  const body = await readFile(source);
  const isPacked = PACKED.has(extname(path));
  const gzip = isPacked ? null : await readFile(`${source}.gz`).catch(() => pack(body, { level: 9 }));
  const br = isPacked ? null : await readFile(`${source}.br`).catch(() => null);
  // A file with a hash in its name never changes; the bundler puts only such files there.
  return { body, gzip, br, type, isHashed: path.startsWith('/assets/') };
}
