import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createSecureContext, type SecureContext, type SecureContextOptions } from 'node:tls';
import type { Log } from '../../platform/log.ts';
import { recentMap } from '../../platform/async/recent-map.ts';

type CachedCertificate = {
  /** The state of both files when they were read. */
  stamp: string;
  /** Null: the files did not match, and no certificate was served before. */
  context: SecureContext | null;
};

const HOSTS_REMEMBERED = 1_000;
const HOST = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+$/;
const HOST_MAX = 253;

export type HostCertificates = { of(host: string): Promise<SecureContext | null> };

/**
 * Serves TLS_CERT_DIR: for a host `<host>.crt` and `<host>.key`, by the name that a client requests. Null for any other name, whose clients
 * get the certificate of the installation. The files are checked for each handshake, so a new pair serves at once, and read again only
 * after a change. An unusable pair, such as one that is only half written, leaves the previous one in use.
 */
export function createHostCertificates(
  dir: string,
  options: SecureContextOptions,
  log?: Pick<Log, 'warn'>,
): HostCertificates {
  const cache = recentMap<CachedCertificate>(HOSTS_REMEMBERED);

  async function read(host: string, files: Files, stamp: string): Promise<CachedCertificate> {
    try {
      const [cert, key] = await Promise.all([readFile(files.cert), readFile(files.key)]);
      return { stamp, context: createSecureContext({ ...options, cert, key }) };
    } catch (error) {
      log?.warn({ host, err: error }, 'certificate.not_usable');
      return { stamp, context: cache.get(host)?.context ?? null };
    }
  }

  return {
    async of(hostName) {
      const host = hostName.toLowerCase();
      if (host.length > HOST_MAX || !HOST.test(host)) return null;
      const files = { cert: join(dir, `${host}.crt`), key: join(dir, `${host}.key`) };
      const stamp = await stampOf(files);
      if (stamp === null) return null;
      const cached = cache.get(host);
      if (cached?.stamp === stamp) return cached.context;
      const fresh = await read(host, files, stamp);
      cache.set(host, fresh);
      return fresh.context;
    },
  };
}

type Files = { cert: string; key: string };

async function stampOf(files: Files): Promise<string | null> {
  try {
    const [cert, key] = await Promise.all([stat(files.cert), stat(files.key)]);
    return [cert, key].map(({ mtimeMs, size, ino }) => `${mtimeMs} ${size} ${ino}`).join(' ');
  } catch {
    return null;
  }
}
