import { X509Certificate } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { request } from 'node:https';
import { createSecureContext } from 'node:tls';
import { isLoopbackName } from '../../platform/net/network-address.ts';
import { type InstallationCheck, fail, type InspectedConfig, ok, warn } from './checks.ts';

const EXPIRES_SOON_MS = 14 * 86_400_000;
const RSA_MIN_BITS = 2_048;
const EC_MIN_BITS = 256;

/** Checks the certificate and key in the TLS files. */
export async function checkTls(config: InspectedConfig, now: number): Promise<InstallationCheck[]> {
  if (!config.tls) return [];
  const { certFile, keyFile } = config.tls;
  try {
    const [cert, key] = await Promise.all([readFile(certFile), readFile(keyFile)]);
    const chain = certificatesOf(cert.toString('latin1'));
    const [leaf] = chain;
    if (!leaf) throw new Error('the file has no certificate');
    const weak = checkKey(leaf);
    // A weak key makes createSecureContext fail, with a less useful message.
    if (weak.length > 0) return weak;
    createSecureContext({ cert, key });
    return [checkCertificate(leaf, config, now), ...checkChain(chain, now)];
  } catch (error) {
    const message = `${certFile} and ${keyFile} cannot be read as certificate and key: ${(error as Error).message}`;
    return [
      fail(
        'tls',
        message,
        'Use PEM files that this user can read, with the key that belongs to the certificate',
      ),
    ];
  }
}

const BEGIN = '-----BEGIN CERTIFICATE-----';

function certificatesOf(text: string): X509Certificate[] {
  const [, ...parts] = text.split(BEGIN);
  if (parts.length === 0) return [new X509Certificate(text)];
  return parts.map((part) => new X509Certificate(BEGIN + part));
}

function checkCertificate(
  certificate: X509Certificate,
  config: InspectedConfig,
  now: number,
): InstallationCheck {
  const { hostname } = new URL(config.publicUrl);
  const until = certificate.validToDate.getTime();
  const expires = `The certificate ${until < now ? 'expired at' : 'is valid until'} ${certificate.validToDate.toISOString()}`;
  const next = 'Renew the certificate, and send SIGHUP to the server';
  if (until < now) return fail('tls', expires, next);
  const from = certificate.validFromDate;
  if (from.getTime() > now)
    return fail(
      'tls',
      `The certificate is valid from ${from.toISOString()}`,
      'Check the clock of this machine, or use the previous certificate',
    );
  if (certificate.checkHost(hostname) === undefined)
    return fail(
      'tls',
      `The certificate is not for ${hostname}`,
      'Use a certificate for the name in PUBLIC_URL',
    );
  return until < now + EXPIRES_SOON_MS ? warn('tls', expires, next) : ok('tls', expires);
}

function checkKey({ publicKey }: X509Certificate): InstallationCheck[] {
  const { modulusLength, namedCurve } = publicKey.asymmetricKeyDetails ?? {};
  const kind = publicKey.asymmetricKeyType ?? '';
  const ecBits = Number(/\d+/.exec(namedCurve ?? '')?.[0] ?? EC_MIN_BITS);
  const isWeak =
    modulusLength !== undefined
      ? modulusLength < RSA_MIN_BITS
      : namedCurve !== undefined && ecBits < EC_MIN_BITS;
  if (!isWeak) return [];
  const size = modulusLength === undefined ? namedCurve : `${modulusLength} bits`;
  return [
    fail(
      'tls',
      `The key of the certificate is weak (${kind}, ${size}): clients reject it`,
      'Get a certificate for a new key: EC P-256, or RSA with at least 2048 bits',
    ),
  ];
}

/** Each certificate must be followed by its issuer, except the root, which clients know. */
function checkChain([leaf, ...rest]: X509Certificate[], now: number): InstallationCheck[] {
  if (!leaf || isSelfSigned(leaf)) return [];
  if (rest.length === 0)
    return [
      warn(
        'tls',
        'TLS_CERT_FILE has no certificates of the issuers: browsers may find them, other clients do not',
        'Use the file with the whole chain (fullchain.pem), your certificate first',
      ),
    ];
  const chain = [leaf, ...rest];
  const broken = chain.find((certificate, i) => {
    const issuer = chain[i + 1];
    return issuer !== undefined && !certificate.checkIssued(issuer);
  });
  if (broken)
    return [
      fail(
        'tls',
        `In TLS_CERT_FILE the certificate of ${nameOf(broken)} is not followed by its issuer`,
        'Put your certificate first, and each issuer after the certificate that it issued',
      ),
    ];
  const old = rest.find(({ validToDate }) => validToDate.getTime() < now);
  if (!old) return [];
  return [
    fail(
      'tls',
      `The certificate of the issuer ${nameOf(old)} expired`,
      'Install the new chain, and send SIGHUP to the server',
    ),
  ];
}

function isSelfSigned(certificate: X509Certificate): boolean {
  return certificate.checkIssued(certificate);
}

function nameOf({ subject }: X509Certificate): string {
  return /^CN=(.*)$/m.exec(subject)?.[1] ?? subject.replaceAll('\n', ' ');
}

const RESPONSE_WITHIN_MS = 5_000;

/** Checks the public address as a client does: the name resolves, the certificate is trusted, and Beckon responds. */
export async function checkPublicUrl(
  { publicUrl, servesApi }: InspectedConfig,
  trusted: { ca?: Buffer } = {},
): Promise<InstallationCheck[]> {
  const url = new URL(publicUrl);
  const { protocol, port } = url;
  const hostname = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (!servesApi || protocol !== 'https:' || isLoopbackName(hostname)) return [];
  const addresses = await lookup(hostname, { all: true }).catch(() => []);
  if (addresses.length === 0)
    return [
      fail(
        'public address',
        `${hostname} has no address in DNS: links in emails do not work`,
        'Add an A or AAAA record for the name in PUBLIC_URL',
      ),
    ];
  const result = await fetchVersion({ hostname, port: Number(port || 443), ...trusted });
  if ('problem' in result) return [notReached(publicUrl, result.problem)];
  if (!/"data":\{[^{}]*"version":/.test(result.text))
    return [
      warn(
        'public address',
        `Another program responds at ${publicUrl}`,
        'Forward all requests from the proxy to PORT, or correct PUBLIC_URL',
      ),
    ];
  return [ok('public address', `${publicUrl} reaches Beckon with a trusted certificate`)];
}

/** A public address may be unreachable from inside its own network, so that alone is a warning. */
function notReached(publicUrl: string, { code, message }: Problem): InstallationCheck {
  const why = `${publicUrl}: ${message}`;
  if (code !== undefined && CERTIFICATE_ERROR.test(code))
    return fail('public address', why, 'Install a valid certificate for this name, with its whole chain');
  return warn(
    'public address',
    `${why}. This machine cannot reach it; other machines may`,
    'If the server runs, try it from another network: curl -v …/version',
  );
}

const CERTIFICATE_ERROR = /CERT|SELF_SIGNED|ERR_TLS|UNABLE_TO|ISSUER|SIGNATURE/;

type Problem = { code: string | undefined; message: string };
type Target = { hostname: string; port: number; ca?: Buffer };

function fetchVersion(target: Target): Promise<{ text: string } | { problem: Problem }> {
  return new Promise((resolve) => {
    const call = request({ ...target, path: '/version', agent: false, timeout: RESPONSE_WITHIN_MS });
    call.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        if (text.length < RESPONSE_MAX_CHARS) text += part;
        else response.destroy();
      });
      response.on('close', () => resolve({ text }));
      response.on('error', () => resolve({ text }));
    });
    call.on('timeout', () => call.destroy(new Error('the response timed out')));
    call.on('error', (error: NodeJS.ErrnoException) =>
      resolve({ problem: { code: error.code, message: error.message } }),
    );
    call.end();
  });
}

const RESPONSE_MAX_CHARS = 10_000;
