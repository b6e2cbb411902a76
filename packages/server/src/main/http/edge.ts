import { readFileSync } from 'node:fs';
import http, { type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import https from 'node:https';
import { callbackify } from 'node:util';
import type { NewId } from '../../platform/ids.ts';
import { Fault } from '../../platform/fault.ts';
import type { Log } from '../../platform/log.ts';
import { TRACKING_PATHS } from '../../modules/sending/index.ts';
import { faultResponse } from '../../platform/http/answers.ts';
import { createHostCertificates } from './host-certificates.ts';
import {
  clientErrorHandler,
  continueWhenRead,
  refuseBody,
  standardHeaders,
} from '../../platform/http/refuse-request.ts';
import {
  originForm,
  redirectLocation,
  transportOf,
  type TransportRules,
} from '../../platform/http/transport.ts';

export type EdgeConfig = {
  /** Null if a proxy ends TLS, or if the public address is http on loopback. */
  tls: TlsFiles | null;
  /** In addition to our own TLS: certificates of other hosts, `<host>.crt` and `<host>.key`. */
  tlsCertDir?: string | null;
  /** Proven tracking hosts. Only the links of emails are served on them. */
  trackingHosts?: { has: (host: string) => boolean };
  timeouts?: Partial<EdgeTimeouts>;
};
export type TlsFiles = { certFile: string; keyFile: string };
export type EdgeTimeouts = {
  headersMs: number;
  requestMs: number;
  keepAliveMs: number;
  checkEveryMs: number;
};
export type EdgeDeps = { rules: TransportRules; newId: NewId; log?: Pick<Log, 'warn'> };

/**
 * Creates the server below Fastify, for its `serverFactory`. It answers some requests itself:
 * - plain requests where https is required (308)
 * - HTTP/1.1 without Host
 * - on the tracking hosts of domains, everything but the links of emails
 *
 * Fastify binds its own `clientError` listener. Pass it `clientErrorHandler` as the option of that name, because two listeners would answer
 * twice.
 */
export function createEdgeServer(
  config: EdgeConfig,
  deps: EdgeDeps,
  listener: RequestListener,
): http.Server | https.Server {
  const options = serverOptions(config, deps);
  return listenThroughEdge(
    config.tls ? https.createServer(options) : http.createServer(options),
    (request, response) => {
      if (lacksHost(request)) return respond(deps, { request, response, fault: new Fault('bad_request') });
      if (mustRedirect(deps.rules, request)) return respondRedirect(deps, request, response);
      request.url = originForm(request.url ?? '/');
      if (isMisplaced(config, deps.rules, request))
        return respond(deps, { request, response, fault: new Fault('not_found') });
      listener(request, response);
    },
  );
}

/**
 * Creates the server at HTTP_REDIRECT_PORT, beside our own TLS. It redirects all requests but the probes to https, and reads no more of
 * them.
 */
export function createRedirectServer(
  config: EdgeConfig,
  deps: EdgeDeps,
  probes: RequestListener,
): http.Server {
  const server = listenThroughEdge(http.createServer(limitOptions(config.timeouts)), (request, response) => {
    if (isProbe(request)) probes(request, response);
    else respondRedirect(deps, request, response);
  });
  return server.on('clientError', clientErrorHandler(deps));
}

function serverOptions(config: EdgeConfig, deps: EdgeDeps): https.ServerOptions {
  const limits = limitOptions(config.timeouts);
  if (!config.tls) return limits;
  const { tlsCertDir: dir = null } = config;
  const options = { ...limits, ...TLS_OPTIONS, ...readCertificate(config.tls) };
  return dir === null ? options : { ...options, SNICallback: certificatesIn(dir, deps) };
}

type SniCallback = NonNullable<https.ServerOptions['SNICallback']>;

/** Without a certificate for this host the client gets the installation's own. */
function certificatesIn(dir: string, { log }: EdgeDeps): SniCallback {
  const certificates = createHostCertificates(dir, TLS_OPTIONS, log);
  const find = callbackify((host: string) => certificates.of(host));
  return (host, callback) => find(host, (error, context) => callback(error, context ?? undefined));
}

/** Reads the certificate again, for SIGHUP. Throws if the new files do not match; the old certificate then stays in use. */
export function reloadCertificate(server: https.Server, files: TlsFiles): void {
  server.setSecureContext({ ...TLS_OPTIONS, ...readCertificate(files) });
}

const TIMEOUTS: EdgeTimeouts = {
  headersMs: 10_000,
  requestMs: 30_000,
  // Longer than the 60 s that load balancers keep an idle connection, so that they close it first, not this server.
  keepAliveMs: 72_000,
  checkEveryMs: 1_000,
};

function limitOptions(overrides: Partial<EdgeTimeouts> = {}): http.ServerOptions {
  const timeouts = { ...TIMEOUTS, ...overrides };
  return {
    headersTimeout: timeouts.headersMs,
    requestTimeout: timeouts.requestMs,
    keepAliveTimeout: timeouts.keepAliveMs,
    connectionsCheckingInterval: timeouts.checkEveryMs,
    maxHeaderSize: 16 * 1024,
    noDelay: true,
    insecureHTTPParser: false,
    // Node would answer a missing Host with an empty 400; this server answers with JSON.
    requireHostHeader: false,
  };
}

const TLS_OPTIONS = {
  minVersion: 'TLSv1.2',
  maxVersion: 'TLSv1.3',
  // AEAD with forward secrecy only.
  ciphers: [
    'TLS_AES_128_GCM_SHA256',
    'TLS_AES_256_GCM_SHA384',
    'TLS_CHACHA20_POLY1305_SHA256',
    'ECDHE-ECDSA-AES128-GCM-SHA256',
    'ECDHE-RSA-AES128-GCM-SHA256',
    'ECDHE-ECDSA-AES256-GCM-SHA384',
    'ECDHE-RSA-AES256-GCM-SHA384',
    'ECDHE-ECDSA-CHACHA20-POLY1305',
    'ECDHE-RSA-CHACHA20-POLY1305',
  ].join(':'),
  handshakeTimeout: 10_000,
} as const satisfies https.ServerOptions;

function readCertificate(files: TlsFiles): { cert: Buffer; key: Buffer } {
  return { cert: readFileSync(files.certFile), key: readFileSync(files.keyFile) };
}

/** Requests with `Expect` take the same path as all others: Node's own answers to them are a premature 100 and a 417 without a body. */
function listenThroughEdge<S extends http.Server | https.Server>(server: S, listener: RequestListener): S {
  server.on('request', listener);
  server.on('checkExpectation', listener);
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    continueWhenRead(request, response);
    listener(request, response);
  });
  return server;
}

function lacksHost(request: IncomingMessage): boolean {
  return request.headers.host === undefined && request.httpVersion === '1.1';
}

function mustRedirect(rules: TransportRules, request: IncomingMessage): boolean {
  return rules.httpsOnly && transportOf(rules, request) === 'plain' && !isProbe(request);
}

/**
 * Returns whether a request to a tracking host is for anything but the links of emails. The owner of the domain decides where that host
 * leads, so the API and the sign-in pages are not served there. The host of PUBLIC_URL is never restricted. The client chooses `Host`: here
 * it can only take paths away.
 */
function isMisplaced(
  { trackingHosts }: EdgeConfig,
  rules: TransportRules,
  request: IncomingMessage,
): boolean {
  if (!trackingHosts) return false;
  const host = (request.headers.host ?? '').toLowerCase().replace(/\.?(?::\d*)?$/, '');
  if (!trackingHosts.has(host) || host === new URL(rules.publicOrigin).hostname) return false;
  return !TRACKING_PATHS.some((path) => request.url?.startsWith(path));
}

/** The probes of a load balancer or a container runtime, mostly over plain HTTP and by address. */
const PROBE_PATHS: ReadonlySet<string> = new Set(['/livez', '/readyz', '/version']);

function isProbe(request: IncomingMessage): boolean {
  const [path = ''] = (request.url ?? '').split('?', 1);
  return PROBE_PATHS.has(path);
}

function respondRedirect(deps: EdgeDeps, request: IncomingMessage, response: ServerResponse): void {
  response.setHeader('Location', redirectLocation(deps.rules, request.url ?? '/'));
  respond(deps, { request, response, fault: new Fault('https_required') });
}

type FailedRequest = { request: IncomingMessage; response: ServerResponse; fault: Fault };

function respond(deps: EdgeDeps, { request, response, fault }: FailedRequest): void {
  const { status, headers, body } = faultResponse(fault);
  const bytes = Buffer.from(JSON.stringify(body));
  refuseBody(request, response);
  response.writeHead(status, {
    ...standardHeaders(deps.newId(), transportOf(deps.rules, request)),
    ...headers,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': bytes.byteLength,
  });
  response.end(bytes);
}
