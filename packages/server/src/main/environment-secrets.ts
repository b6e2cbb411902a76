import type { Config } from './config.ts';

type Secretive = Pick<Config, 'secretKey' | 'secretKeyPrevious' | 'smtpUrl' | 'database' | 'model'>;

/** Returns the secrets of the environment, which must never be printed, even when a server repeats what it received. */
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
