import { X509Certificate } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { request } from 'node:https';
import { createSecureContext } from 'node:tls';
import { isLoopbackName } from '../base/loopback.ts';
import { type Check, fail, type InspectedConfig, ok, warn } from './checks.ts';

const EXPIRES_SOON_MS = 14 * 86_400_000;
const RSA_MIN_BITS = 2_048;
const EC_MIN_BITS = 256;

/** The certificate that we would show, as it lies in the files. */
export async function checkTls(config: InspectedConfig, now: number): Promise<Check[]> {
  if (!config.tls) return [];
  const { certFile, keyFile } = config.tls;
  try {
    const [cert, key] = await Promise.all([readFile(certFile), readFile(keyFile)]);
    const chain = certificatesOf(cert.toString('latin1'));
    const [own] = chain;
    if (!own) throw new Error('there is no certificate in it');
    const weak = checkKey(own);
    // With a key that is too weak nothing can be opened, and that is why.
    if (weak.length > 0) return weak;
    createSecureContext({ cert, key });
    return [checkCertificate(own, config, now), ...checkChain(chain, now)];
  } catch (error) {
    const message = `${certFile} and ${keyFile} are no certificate and key that can be read: ${(error as Error).message}`;
    return [
      fail('tls', message, 'Give this user the right to read both, as PEM, and the key that belongs to it'),
    ];
  }
}

const BEGIN = '-----BEGIN CERTIFICATE-----';

function certificatesOf(text: string): X509Certificate[] {
  const [, ...parts] = text.split(BEGIN);
  if (parts.length === 0) return [new X509Certificate(text)];
  return parts.map((part) => new X509Certificate(BEGIN + part));
}

function checkCertificate(certificate: X509Certificate, config: InspectedConfig, now: number): Check {
  const { hostname } = new URL(config.publicUrl);
  const until = certificate.validToDate.getTime();
  const expires = `The certificate ${until < now ? 'expired' : 'is good until'} ${certificate.validToDate.toISOString()}`;
  const next = 'Renew it, and send the server SIGHUP';
  if (until < now) return fail('tls', expires, next);
  const from = certificate.validFromDate;
  if (from.getTime() > now)
    return fail(
      'tls',
      `The certificate is good from ${from.toISOString()} on`,
      'Is the clock of this machine right? Else use the certificate before',
    );
  if (certificate.checkHost(hostname) === undefined)
    return fail('tls', `The certificate is not for ${hostname}`, 'Use one for the name in PUBLIC_URL');
  return until < now + EXPIRES_SOON_MS ? warn('tls', expires, next) : ok('tls', expires);
}

function checkKey({ publicKey }: X509Certificate): Check[] {
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
      `The key of the certificate is weak (${kind}, ${size}): clients refuse it, and it can be broken`,
      'Have one issued for a new key: EC P-256, or RSA with 2048 bits or more',
    ),
  ];
}

/** Whoever signed a certificate has to come behind it, but for the authorities that everybody knows. */
function checkChain([own, ...rest]: X509Certificate[], now: number): Check[] {
  if (!own || isSelfSigned(own)) return [];
  if (rest.length === 0)
    return [
      warn(
        'tls',
        'TLS_CERT_FILE holds the certificate alone, without those of who issued it: browsers may find these, customers’ servers do not',
        'Use the file with the whole chain (fullchain.pem), the own certificate first',
      ),
    ];
  const chain = [own, ...rest];
  const broken = chain.find((one, i) => {
    const issuer = chain[i + 1];
    return issuer !== undefined && !one.checkIssued(issuer);
  });
  if (broken)
    return [
      fail(
        'tls',
        `In TLS_CERT_FILE what follows the certificate of ${nameOf(broken)} is not the one that issued it`,
        'Put the own certificate first, and each issuer behind what it issued',
      ),
    ];
  const old = rest.find(({ validToDate }) => validToDate.getTime() < now);
  if (!old) return [];
  return [
    fail(
      'tls',
      `The certificate of ${nameOf(old)}, which issued ours, expired`,
      'Get the new chain, and send SIGHUP',
    ),
  ];
}

function isSelfSigned(certificate: X509Certificate): boolean {
  return certificate.checkIssued(certificate);
}

function nameOf({ subject }: X509Certificate): string {
  return /^CN=(.*)$/m.exec(subject)?.[1] ?? subject.replaceAll('\n', ' ');
}

const ANSWER_WITHIN_MS = 5_000;

/**
 * The public address, as people and customers' servers come to it: is there such a name, does somebody answer under a
 * certificate that everybody trusts, and is that somebody us.
 */
export async function checkPublicUrl(
  { publicUrl, servesApi }: InspectedConfig,
  trusted: { ca?: Buffer } = {},
): Promise<Check[]> {
  const url = new URL(publicUrl);
  const { protocol, port } = url;
  const hostname = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (!servesApi || protocol !== 'https:' || isLoopbackName(hostname)) return [];
  const addresses = await lookup(hostname, { all: true }).catch(() => []);
  if (addresses.length === 0)
    return [
      fail(
        'public address',
        `There is no ${hostname} in the DNS that this machine asks: links in letters lead nowhere`,
        'Add an A or AAAA record for the name in PUBLIC_URL',
      ),
    ];
  const answered = await askVersion({ hostname, port: Number(port || 443), ...trusted });
  if ('trouble' in answered) return [notReached(publicUrl, answered.trouble)];
  if (!/"data":\{[^{}]*"version":/.test(answered.text))
    return [
      warn(
        'public address',
        `Whoever answers at ${publicUrl} is not Beckon`,
        'Let the proxy pass everything on to PORT, or put PUBLIC_URL right',
      ),
    ];
  return [ok('public address', `${publicUrl} leads here, by a certificate that is trusted`)];
}

/** From inside a network one's own public address may not be reachable at all: that alone is no failure. */
function notReached(publicUrl: string, { code, message }: Trouble): Check {
  const why = `${publicUrl}: ${message}`;
  if (code !== undefined && OF_CERTIFICATE.test(code))
    return fail(
      'public address',
      why,
      'Install a certificate that is in force, for this name, with its whole chain',
    );
  return warn(
    'public address',
    `${why}. From this machine it is not reached; perhaps it is from elsewhere`,
    'If the server runs, try it from outside: curl -v …/version',
  );
}

const OF_CERTIFICATE = /CERT|SELF_SIGNED|ERR_TLS|UNABLE_TO|ISSUER|SIGNATURE/;

type Trouble = { code: string | undefined; message: string };
type Asked = { hostname: string; port: number; ca?: Buffer };

function askVersion(asked: Asked): Promise<{ text: string } | { trouble: Trouble }> {
  return new Promise((resolve) => {
    const call = request({ ...asked, path: '/version', agent: false, timeout: ANSWER_WITHIN_MS });
    call.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        if (text.length < ANSWER_MAX_CHARS) text += part;
        else response.destroy();
      });
      response.on('close', () => resolve({ text }));
      response.on('error', () => resolve({ text }));
    });
    call.on('timeout', () => call.destroy(new Error('no answer came in time')));
    call.on('error', (error: NodeJS.ErrnoException) =>
      resolve({ trouble: { code: error.code, message: error.message } }),
    );
    call.end();
  });
}

const ANSWER_MAX_CHARS = 10_000;
