import type { Config } from './config.ts';

type Secretive = Pick<Config, 'secretKey' | 'secretKeyPrevious' | 'smtpUrl' | 'database' | 'model'>;

/** What the environment told us and nobody else is told, not even by the mouth of a server that repeats what we said to it. */
export function toldSecrets(config: Secretive): string[] {
  const { secretKey, secretKeyPrevious, smtpUrl, database, model } = config;
  const passwords = [smtpUrl, database?.url, database?.adminUrl].map((url) => (url ? passwordOf(url) : ''));
  return [secretKey, secretKeyPrevious, model?.apiKey, ...passwords].filter(
    (secret): secret is string => typeof secret === 'string' && secret !== '',
  );
}

function passwordOf(url: string): string {
  const { password } = new URL(url);
  try {
    return decodeURIComponent(password);
  } catch {
    return password;
  }
}
